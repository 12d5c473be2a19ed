/* SPDX-License-Identifier: MIT
 *
 * query/queue.c: the query `queue`: every message that is not over, with its text.
 */
#include "query/answer.h"
#include "session/stored_run.h"

static int write_message(struct question *question, const struct message *message, size_t place,
                         struct tidings_error *error) {
  struct op *op = &question->op;
  struct json_writer *writer = &question->writer;
  struct tidings_span content, trigger;
  int code = content_get(op->txn, op->session, message->n, &op->arena, &content, &trigger, error);
  if (code) return code;
  json_open(writer, NULL, '{');
  json_put_string(writer, "id", message->id);
  json_put_u64(writer, "place", place);
  json_put_text(writer, "state", message_state_name(message->state));
  json_put_text(writer, "delivery", message->steer ? "steer" : "queue");
  query_write_queued_at(writer, message);
  query_write_due(writer, message->due_ms);
  json_put_string(writer, "content", content);
  if (trigger.len) json_put_raw(writer, "trigger", trigger);
  else json_put_text(writer, "trigger", NULL);
  json_close(writer, '}');
  return 0;
}

int query_queue(struct question *question, struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  struct stored_run stored = {.from = 0};
  size_t place = 0;
  int code =
      question->op.session ? stored_run_load(&question->op, &stored, NULL, 0, NULL, error) : 0;
  if (code) return code;
  json_open(writer, "messages", '[');
  for (size_t i = 0; i < stored.turns.count && !code; i++) {
    const struct message *message = &stored.turns.messages[i];
    if (message_is_over(message->state)) continue;
    if (++place <= question->request->limit) code = write_message(question, message, place, error);
  }
  json_close(writer, ']');
  json_put_u64(writer, "count", place);
  return code;
}
