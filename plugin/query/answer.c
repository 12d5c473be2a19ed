/* SPDX-License-Identifier: MIT
 *
 * query/answer.c: turns a request into an answer; also the queries that are about no session,
 * `configure`, `neutralize` and `marker`.
 */
#include "query/answer.h"

#include <stdlib.h>

#include "common/error.h"
#include "config/config.h"
#include "render/neutralize.h"

struct answer {
  struct tidings_answer abi; /* first */
  struct buffer text;
  struct handed_out_node out;
};

void query_write_kind(struct json_writer *writer, const struct notification *note) {
  json_open(writer, "kind", '{');
  json_put_string(writer, "source", note->source);
  json_put_string(writer, "name", note->name);
  json_close(writer, '}');
}

void query_write_occurred(struct json_writer *writer, const struct notification *note) {
  if (note->occurred_ms) json_put_time(writer, "occurred_at", note->occurred_ms);
}

size_t query_leave_out_ended(struct item *items, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (!items[i].ended) items[kept++] = items[i];
  return kept;
}

void query_write_due(struct json_writer *writer, int64_t due_ms) {
  if (due_ms) json_put_time(writer, "due_at", due_ms);
}

void query_write_data(struct json_writer *writer, const struct notification *note) {
  if (note->data.len && !note->made_by) json_put_raw(writer, "data", note->data);
}

bool query_owner_alive(struct question *question, const struct owner *owner) {
  if (!owner->pid) return false;
  if (!owner_equal(&question->looked_at, owner)) {
    question->was_alive = store_owner_alive(question->op.instance->store, owner);
    question->looked_at = *owner;
  }
  return question->was_alive;
}

static int configure(struct instance *instance, const struct request *request,
                     struct json_writer *writer, struct tidings_error *error) {
  struct buffer json = BUFFER_EMPTY, changed = BUFFER_EMPTY;
  int code = request->has_config ? configuration_set(instance, request->config, error) : 0;
  if (code) return code;
  struct configuration *configuration = configuration_use(instance);
  config_write(&configuration->settings, &json);
  config_write_changed(&configuration->settings, &changed);
  configuration_done(configuration);
  json_put_raw(writer, "config", buffer_view(&json));
  json_put_raw(writer, "changed", buffer_view(&changed));
  if (json.failed || changed.failed) writer->out->failed = true;
  buffer_free(&json);
  buffer_free(&changed);
  return 0;
}

static void answer_neutralize(const struct request *request, struct json_writer *writer) {
  struct buffer text = BUFFER_EMPTY;
  neutralize(request->text, &text);
  json_put_string(writer, "text", buffer_view(&text));
  if (text.failed) writer->out->failed = true;
  buffer_free(&text);
}

static int answer_marker(const struct op *op, struct json_writer *writer,
                         struct tidings_error *error) {
  struct marker_key key;
  int code = configuration_marker_key(op->instance, op->deadline, &key, error);
  if (!code) json_put_text(writer, "key", key.text);
  return code;
}

/* A snapshot takes a portion of a database's inbox, and begins with what the one before it has
 * taken. A portion that is not the last has at least PORTION_LEAST pushes. After half of the time
 * no more are read: a later query goes on. */
static int read_all(struct op *op, const struct request *request, struct tidings_error *error) {
  enum { PORTIONS_MOST = 16, PORTION_LEAST = 4 };
  bool only = request->name == QUERY_TOTALS || request->place; /* the first page has what is new */
  uint64_t before = 0, taken = 0;
  int code = 0, half_ms = store_deadline_left_ms(op->deadline) / 2;
  bool more = true;
  for (int i = 0; !code && more && i < PORTIONS_MOST; i++) {
    op_give_up(op);
    code = only ? op_read_only(op, error) : op_read(op, error);
    if (!code && op->name.len) code = session_find(op->txn, op->name, &op->session, error);
    if (!code) code = op_get_head(op, error);
    before = taken;
    taken = code ? 0 : store_mark(op->txn, &op->head).places.count;
    more = taken >= before + PORTION_LEAST && store_deadline_left_ms(op->deadline) > half_ms;
  }
  return code;
}

static int ask_session(struct question *question, struct tidings_error *error) {
  static int (*const answers[])(struct question *, struct tidings_error *) = {
      [QUERY_PENDING] = query_pending,   [QUERY_STATUS] = query_status,
      [QUERY_HISTORY] = query_history,   [QUERY_EXPLAIN] = query_explain,
      [QUERY_STATS] = query_stats,       [QUERY_STREAM] = query_stream,
      [QUERY_PREVIEW] = query_preview,   [QUERY_INSTRUCTIONS] = query_instructions,
      [QUERY_RENDER] = query_render,     [QUERY_SESSIONS] = query_sessions,
      [QUERY_QUEUE] = query_queue,       [QUERY_TOOLS] = query_tools,
      [QUERY_TIMELINE] = query_timeline, [QUERY_TOTALS] = query_totals,
  };
  struct op *op = &question->op;
  const struct request *request = question->request;
  int code = read_all(op, request, error);
  if (!code && op->session)
    code = item_last(op->txn, op->session, &op->head, &question->last, error);
  return code ? code : answers[request->name](question, error);
}

static int write_answer(struct instance *instance, const struct request *request,
                        struct buffer *out, struct tidings_error *error) {
  struct question question = {.request = request, .writer = {.out = out}};
  int code = 0;
  op_begin(&question.op, instance, request->session, instance_deadline(instance));
  json_open(&question.writer, NULL, '{');
  if (request->name == QUERY_CONFIGURE)
    code = configure(instance, request, &question.writer, error);
  else if (request->name == QUERY_NEUTRALIZE) answer_neutralize(request, &question.writer);
  else if (request->name == QUERY_MARKER)
    code = answer_marker(&question.op, &question.writer, error);
  else code = ask_session(&question, error);
  json_close(&question.writer, '}');
  buffer_byte(out, '\0');
  op_end(&question.op);
  if (!code && out->failed) code = fail(error, TIDINGS_E_NOMEM, "no memory for an answer");
  return code;
}

int query_answer(struct instance *instance, struct tidings_span request,
                 const struct tidings_answer **ret_answer, struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  struct request parsed;
  struct answer *answer = calloc(1, sizeof *answer);
  int code = answer ? request_parse(request, &arena, &parsed, error)
                    : fail(error, TIDINGS_E_NOMEM, "no memory for an answer");
  if (!code) code = write_answer(instance, &parsed, &answer->text, error);
  arena_free(&arena);
  if (code) {
    if (answer) buffer_free(&answer->text);
    free(answer);
    return code;
  }
  answer->abi.size = sizeof answer->abi;
  answer->abi.json = span_of(answer->text.bytes, answer->text.len - 1);
  instance_hand_out(instance, &answer->out, HANDED_OUT_ANSWER, &answer->abi);
  *ret_answer = &answer->abi;
  return 0;
}

void query_release(struct instance *instance, const struct tidings_answer *abi) {
  if (!abi || !instance_claim(instance, HANDED_OUT_ANSWER, abi)) return;
  struct answer *answer = (struct answer *)(uintptr_t)abi;
  buffer_free(&answer->text);
  free(answer);
  instance_take_back(instance);
}
