/* SPDX-License-Identifier: MIT
 */
#include "query/maintenance.h"

#include <stdlib.h>

#include "common/error.h"
#include "common/json_write.h"
#include "store/maintenance/maintenance.h"

struct maintenance_answer {
  struct tidings_answer abi; /* first */
  struct buffer text;
};

static int take_path(struct tidings_span span, const char *name, struct arena *arena,
                     const char **ret_path, struct tidings_error *error) {
  struct tidings_span copy;
  if (!span.len || memchr(span.ptr, '\0', span.len))
    return fail(error, TIDINGS_E_INVAL, "request.%s: expected the path of a folder", name);
  if (arena_copy(arena, span, &copy)) return fail(error, TIDINGS_E_NOMEM, "no memory for a path");
  *ret_path = copy.ptr;
  return 0;
}

static void write_findings(struct json_writer *writer, const struct maintenance_report *report) {
  json_put_bool(writer, "sound", !report->finding_count);
  json_open(writer, "findings", '[');
  for (size_t i = 0; i < report->finding_count; i++) {
    const struct maintenance_finding *finding = &report->findings[i];
    json_open(writer, NULL, '{');
    if (finding->has_page) json_put_u64(writer, "page", finding->page);
    json_put_text(writer, "text", finding->text);
    json_close(writer, '}');
  }
  json_close(writer, ']');
  if (report->flushes) json_put_u64(writer, "flushes", report->flushes);
}

static void write_report(enum maintenance_task task, const struct maintenance_report *report,
                         struct buffer *out) {
  struct json_writer writer = {.out = out};
  json_open(&writer, NULL, '{');
  if (task == MAINTENANCE_CHECK) write_findings(&writer, report);
  if (report->layout) json_put_u64(&writer, "layout", report->layout);
  if (report->sql) json_put_text(&writer, "sql", report->sql);
  json_put_u64(&writer, "rows", report->rows);
  json_put_u64(&writer, "sessions", report->sessions);
  json_put_u64(&writer, "notifications", report->notifications);
  json_put_u64(&writer, "messages", report->messages);
  json_put_u64(&writer, "damaged", report->damaged);
  if (task == MAINTENANCE_SALVAGE) {
    json_put_u64(&writer, "stale", report->stale);
    json_put_u64(&writer, "made_heads", report->made_heads);
    json_put_u64(&writer, "pending_again", report->pending_again);
    json_put_u64(&writer, "made_names", report->made_names);
  }
  if (task == MAINTENANCE_FORGET) json_put_u64(&writer, "deliveries", report->deliveries);
  if (report->took_away) json_put_bool(&writer, "took_away", true);
  if (task == MAINTENANCE_MIGRATE) json_put_u64(&writer, "left_out", report->left_out);
  json_close(&writer, '}');
  buffer_byte(out, '\0');
}

static bool has_target(enum maintenance_task task) {
  return task == MAINTENANCE_BACKUP || task == MAINTENANCE_SALVAGE || task == MAINTENANCE_MIGRATE ||
         task == MAINTENANCE_DUMP || task == MAINTENANCE_LOAD;
}

static int run_forget(const char *from, struct tidings_span session, bool dry,
                      struct maintenance_report *ret_report, struct tidings_error *error) {
  if (!session.len)
    return fail(error, TIDINGS_E_INVAL, "request.session: missing; expected the id of a session");
  return maintenance_forget(from, session, dry, ret_report, error);
}

static int run(enum maintenance_task task, const char *from, const char *to,
               const struct tidings_store_request *request, struct maintenance_report *ret_report,
               struct tidings_error *error) {
  uint32_t flags = request->flags;
  bool dry = flags & TIDINGS_STORE_FLAG_DRY_RUN;
  switch (task) {
  case MAINTENANCE_CHECK: return maintenance_check(from, ret_report, error);
  case MAINTENANCE_BACKUP: return maintenance_backup(from, to, ret_report, error);
  case MAINTENANCE_SALVAGE:
    return maintenance_salvage(from, to, flags & TIDINGS_STORE_FLAG_ALSO_STALE, ret_report, error);
  case MAINTENANCE_MIGRATE: return maintenance_migrate(from, to, ret_report, error);
  case MAINTENANCE_INIT:
    return maintenance_tables(MAINTENANCE_TABLES_INIT, from, dry, ret_report, error);
  case MAINTENANCE_UPGRADE:
    return maintenance_tables(MAINTENANCE_TABLES_UPGRADE, from, dry, ret_report, error);
  case MAINTENANCE_DROP:
    return maintenance_tables(flags & TIDINGS_STORE_FLAG_KEEP_TABLES ? MAINTENANCE_TABLES_EMPTY
                                                                     : MAINTENANCE_TABLES_DROP,
                              from, dry, ret_report, error);
  case MAINTENANCE_DUMP: return maintenance_dump(from, to, ret_report, error);
  case MAINTENANCE_LOAD: return maintenance_load(from, to, ret_report, error);
  case MAINTENANCE_FORGET: return run_forget(from, request->session, dry, ret_report, error);
  }
  return fail(error, TIDINGS_E_INVAL, "there is no such task");
}

int query_maintenance(enum maintenance_task task, const struct tidings_store_request *request,
                      const struct tidings_answer **ret_answer, struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  struct maintenance_report report = {0};
  const char *from_path = NULL, *to_path = NULL;
  struct maintenance_answer *answer = calloc(1, sizeof *answer);
  int code = answer ? 0 : fail(error, TIDINGS_E_NOMEM, "no memory for an answer");
  if (!code) code = take_path(request->from, "from", &arena, &from_path, error);
  if (!code && has_target(task)) code = take_path(request->to, "to", &arena, &to_path, error);
  if (!code) code = run(task, from_path, to_path, request, &report, error);
  if (!code) write_report(task, &report, &answer->text);
  if (!code && answer->text.failed) code = fail(error, TIDINGS_E_NOMEM, "no memory for an answer");
  free(report.sql);
  arena_free(&arena);
  if (code) {
    if (answer) buffer_free(&answer->text);
    free(answer);
    return code;
  }
  answer->abi.size = sizeof answer->abi;
  answer->abi.json = span_of(answer->text.bytes, answer->text.len - 1);
  *ret_answer = &answer->abi;
  return 0;
}

void query_maintenance_release(const struct tidings_answer *abi) {
  struct maintenance_answer *answer = (struct maintenance_answer *)(uintptr_t)abi;
  if (answer) buffer_free(&answer->text);
  free(answer);
}
