/* SPDX-License-Identifier: MIT
 *
 * flow/calls.c: records which tool calls run, for reports of changed files, and for the time after
 * the owner has died (session/orphans.c). The record is kept in the store's shared memory, where it
 * costs no commit, or only a late one (session/publish.h). A call that finds no place there, or
 * that comes with an event that is committed anyway, is written to the session's row.
 */
#include "rules/producers/calls.h"

#include "common/error.h"
#include "common/json_write.h"
#include "flow/internal.h"
#include "rules/producers/edits.h"
#include "session/publish.h"

struct call_report {
  const struct event *event;
  const struct op *op;
};

static bool take_report(void *context, struct memory *calls) {
  const struct call_report *report = context;
  return calls_take(calls, report->event, report->op->now_ms);
}

bool calls_share(struct op *op, const struct event *event) {
  struct call_report report = {event, op};
  const struct calls_of whose = {.session = op->session,
                                 .epoch = op->head.epoch,
                                 .owner = &op->instance->owner,
                                 .now_ms = op->now_ms};
  bool ends = event->type != EVENT_TOOLS_STARTED;
  if (!calls_concerns(event) || (ends && !store_calls_any(op->instance->store, op->session)))
    return true;
  return publish_can_wait(op) && store_calls(op->instance->store, &whose, take_report, &report);
}

void calls_share_ends(struct op *op, const struct event *event) {
  if (event->type != EVENT_TOOLS_STARTED && !calls_share(op, event))
    store_calls_forget(op->instance->store, op->session);
}

/* A call that is in shared memory too needs no write now: its row is updated later. */
int calls_row_changes(struct op *op, const struct event *event, struct memory *ret_row,
                      bool *ret_changes, struct tidings_error *error) {
  bool one_machine = store_is_of_one_machine(op->instance->store);
  struct memory memory = {0}, shared;
  int code = calls_concerns(event) || !one_machine
                 ? memory_get(op->txn, op->session, &op->arena, &memory, error)
                 : 0;
  if (!code) *ret_row = memory;
  if (!code && !one_machine) {
    code = publish_get_calls(op, op->head.epoch, &shared, error);
    if (!code) calls_leave_out(&memory, &shared);
  }
  if (!code) *ret_changes = calls_concerns(event) && calls_end(&memory, event, op->now_ms);
  return code;
}

int calls_write_row(struct op *op, const struct event *event, bool *ret_changed,
                    struct tidings_error *error) {
  struct memory memory;
  if (!calls_concerns(event)) return 0;
  int code = memory_get(op->txn, op->session, &op->arena, &memory, error);
  if (code || !calls_take(&memory, event, op->now_ms)) return code;
  *ret_changed = true;
  return memory_put(op->txn, op->session, &memory, error);
}

/* -- for reports of files ---------------------------------------------------------------------- */

/* Finds the call during which the files changed. Edits by the assistant are left out, because they
 * are never shown. */
static int find_call(struct op *op, struct event *event, const struct memory *memory,
                     struct tidings_error *error) {
  struct memory shared = {0}, committed = *memory;
  bool any = store_calls_any(op->instance->store, op->session);
  if (event->report.caused_by.len || (!any && !memory->call_count)) return 0;
  int code = op_get_head(op, error);
  if (code) return code;
  bool alive = owner_alive(&op->head.owner);
  if (alive) code = publish_get_calls(op, op->head.epoch, &shared, error);
  if (code) return code;
  calls_leave_out(&committed, &shared);
  struct tidings_span tool = calls_during(&shared, event, op->now_ms, true);
  event->report.tool = tool.len ? tool : calls_during(&committed, event, op->now_ms, alive);
  return 0;
}

/* The event's data gets the edited paths, for queries and for lists of several reports. */
static int add_edited(struct op *op, struct event *event) {
  const struct report *report = &event->report;
  struct buffer text = BUFFER_EMPTY;
  struct json_writer writer = {.out = &text};
  if (!report->edited) return 0;
  json_open(&writer, NULL, '[');
  for (size_t i = 0; i < report->path_count; i++)
    if (report->edited[i]) json_put_string(&writer, NULL, report->paths[i]);
  json_close(&writer, ']');
  struct buffer data = BUFFER_EMPTY;
  buffer_append(&data, event->data.ptr, event->data.len - 1); /* without its last bracket */
  buffer_text(&data, ",\"edited\":");
  buffer_span(&data, buffer_view(&text));
  buffer_byte(&data, '}');
  bool failed =
      text.failed || data.failed || arena_copy(&op->arena, buffer_view(&data), &event->data);
  buffer_free(&text);
  buffer_free(&data);
  return failed ? -1 : 0;
}

int calls_find(struct op *op, struct event *event, bool *ret_known, struct tidings_error *error) {
  struct memory memory = {0};
  struct report *report = &event->report;
  if (event->type != EVENT_FILE_CHANGED) return 0;
  int code = op_read(op, error);
  if (code) return code;
  code = session_find(op->txn, op->name, &op->session, error);
  if (!code) code = memory_get(op->txn, op->session, &op->arena, &memory, error);
  if (!code) code = find_call(op, event, &memory, error);
  op_give_up(op);
  if (code) return code;
  *ret_known = report->caused_by.len && !edits_are_new(&memory, report);
  if (!report->caused_by.len && (edits_mark(&memory, report, &op->arena) || add_edited(op, event)))
    return fail(error, TIDINGS_E_NOMEM, "no memory for the files of a report");
  return 0;
}

int calls_forget_edits(struct op *op, struct tidings_error *error) {
  struct memory memory;
  int code = memory_get(op->txn, op->session, &op->arena, &memory, error);
  if (code || !memory.edits.len) return code;
  memory.edits = span_of(NULL, 0);
  return memory_put(op->txn, op->session, &memory, error);
}
