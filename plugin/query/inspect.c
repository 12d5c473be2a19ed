/* SPDX-License-Identifier: MIT
 *
 * query/inspect.c: from a request to an answer; and the questions that need no store, `configure`
 * and `neutralize`.
 */
#include "query/inspect.h"

#include <stdlib.h>

#include "common/error.h"
#include "config/config.h"
#include "render/neutralize.h"

struct answer {
  struct tidings_answer abi; /* first */
  struct buffer text;
};

void write_kind(struct json_writer *writer, const struct notification *note) {
  json_open(writer, "kind", '{');
  json_put_string(writer, "source", note->source);
  json_put_string(writer, "name", note->name);
  json_close(writer, '}');
}

static int configure(struct instance *instance, const struct query *query,
                     struct json_writer *writer, struct tidings_error *error) {
  struct buffer json = BUFFER_EMPTY;
  int code = query->has_config ? configuration_set(instance, query->config, error) : 0;
  if (code) return code;
  struct configuration *configuration = configuration_use(instance);
  config_write(&configuration->settings, &json);
  configuration_done(configuration);
  json_put_raw(writer, "config", buffer_view(&json));
  if (json.failed) writer->out->failed = true;
  buffer_free(&json);
  return 0;
}

static void answer_neutralize(const struct query *query, struct json_writer *writer) {
  struct buffer text = BUFFER_EMPTY;
  neutralize(query->text, &text);
  json_put_string(writer, "text", buffer_view(&text));
  if (text.failed) writer->out->failed = true;
  buffer_free(&text);
}

static int ask_session(struct inspection *inspection, struct tidings_error *error) {
  static int (*const answers[])(struct inspection *, struct tidings_error *) = {
      [QUERY_PENDING] = inspect_pending, [QUERY_STATUS] = inspect_status,
      [QUERY_HISTORY] = inspect_history, [QUERY_EXPLAIN] = inspect_explain,
      [QUERY_STATS] = inspect_stats,     [QUERY_STREAM] = inspect_stream,
      [QUERY_PREVIEW] = inspect_preview, [QUERY_INSTRUCTIONS] = inspect_instructions,
      [QUERY_RENDER] = inspect_render,   [QUERY_SESSIONS] = inspect_sessions,
  };
  struct op *op = &inspection->op;
  int code = op_read(op, error);
  if (!code && op->name.len) code = session_find(op->txn, op->name, &op->session, error);
  if (!code) code = op_get_head(op, error);
  if (!code && op->session)
    code = item_last(op->txn, op->session, &op->head, &inspection->last, error);
  return code ? code : answers[inspection->query->name](inspection, error);
}

static int write_answer(struct instance *instance, const struct query *query, struct buffer *out,
                        struct tidings_error *error) {
  struct inspection inspection = {.query = query, .writer = {.out = out}};
  int code = 0;
  op_begin(&inspection.op, instance, query->session, store_deadline_in(instance->budget_ms));
  json_open(&inspection.writer, NULL, '{');
  if (query->name == QUERY_CONFIGURE) code = configure(instance, query, &inspection.writer, error);
  else if (query->name == QUERY_NEUTRALIZE) answer_neutralize(query, &inspection.writer);
  else code = ask_session(&inspection, error);
  json_close(&inspection.writer, '}');
  buffer_byte(out, '\0');
  op_end(&inspection.op);
  if (!code && out->failed) code = fail(error, TIDINGS_E_NOMEM, "no memory for an answer");
  return code;
}

int inspect(struct instance *instance, struct tidings_span request,
            const struct tidings_answer **ret_answer, struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  struct query query;
  struct answer *answer = calloc(1, sizeof *answer);
  int code = answer ? query_parse(request, &arena, &query, error)
                    : fail(error, TIDINGS_E_NOMEM, "no memory for an answer");
  if (!code) code = write_answer(instance, &query, &answer->text, error);
  arena_free(&arena);
  if (code) {
    if (answer) buffer_free(&answer->text);
    free(answer);
    return code;
  }
  answer->abi.size = sizeof answer->abi;
  answer->abi.json = span_of(answer->text.bytes, answer->text.len - 1);
  instance_hand_out(instance);
  *ret_answer = &answer->abi;
  return 0;
}

void inspect_release(struct instance *instance, const struct tidings_answer *abi) {
  if (!abi) return;
  struct answer *answer = (struct answer *)(uintptr_t)abi;
  buffer_free(&answer->text);
  free(answer);
  instance_take_back(instance);
}
