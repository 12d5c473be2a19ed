/* SPDX-License-Identifier: MIT
 *
 * query/status.c: the query `status`: the run, the queue, and the owner of the session.
 */
#include "common/error.h"
#include "query/answer.h"
#include "session/orphans.h"
#include "session/reply.h"

void query_write_attachment(struct json_writer *writer, const struct op *op) {
  const struct head *head = &op->head;
  char machine[OWNER_MACHINE_BYTES];
  if (!head->owner.pid) {
    json_put_text(writer, "attachment", NULL);
    if (head->closed_ms) json_put_time(writer, "closed", head->closed_ms);
    return;
  }
  json_open(writer, "attachment", '{');
  json_put_u64(writer, "pid", head->owner.pid);
  json_put_bool(writer, "alive", store_owner_alive(op->instance->store, &head->owner));
  store_owner_machine(op->instance->store, &head->owner, machine);
  if (machine[0]) json_put_text(writer, "machine", machine);
  json_put_u64(writer, "epoch", head->epoch);
  json_put_time(writer, "since", head->attached_ms);
  json_put_string(writer, "cwd", head->cwd);
  json_put_string(writer, "host", head->host);
  json_close(writer, '}');
}

static void write_text_or_null(struct json_writer *writer, const char *name,
                               struct tidings_span text) {
  if (text.len) json_put_string(writer, name, text);
  else json_put_text(writer, name, NULL);
}

static void write_time_or_null(struct json_writer *writer, const char *name, int64_t ms) {
  if (ms) json_put_i64(writer, name, ms);
  else json_put_text(writer, name, NULL);
}

void query_write_queued_at(struct json_writer *writer, const struct message *message) {
  write_time_or_null(writer, "queued_at", message->waited ? message->stamp_ms : 0);
}

/* Lists the messages that are not over. */
static void write_queue(struct json_writer *writer, const struct turns *turns) {
  json_open(writer, "queued", '[');
  for (size_t i = 0; i < turns->count; i++) {
    const struct message *message = &turns->messages[i];
    if (message_is_over(message->state)) continue;
    json_open(writer, NULL, '{');
    json_put_string(writer, "id", message->id);
    json_put_text(writer, "state", message_state_name(message->state));
    query_write_queued_at(writer, message);
    json_close(writer, '}');
  }
  json_close(writer, ']');
}

/* The deliveries that were handed out and are not settled yet. */
static int write_leased(struct json_writer *writer, struct op *op, struct tidings_error *error) {
  int code = 0;
  json_open(writer, "leased", '[');
  for (size_t i = 0; i < op->head.leased_count && !code; i++) {
    struct delivery delivery;
    code = delivery_get_leased(op->txn, op->session, &op->head, op->head.leased[i], &op->arena,
                               &delivery, error);
    if (code) break;
    json_open(writer, NULL, '{');
    json_put_id(writer, "id", delivery_id(op->session, &delivery));
    json_put_text(writer, "carrier", query_carrier_name(delivery.carrier));
    if (delivery.call_id.len) json_put_string(writer, "call_id", delivery.call_id);
    json_put_i64(writer, "leased_at", delivery.leased_ms);
    json_close(writer, '}');
  }
  json_close(writer, ']');
  return code;
}

static int write_orphaned_calls(struct json_writer *writer, struct op *op, const struct run *run,
                                struct tidings_error *error) {
  struct memory calls;
  int code = orphans_get(op, run, &calls, error);
  json_open(writer, "orphaned_calls", '[');
  for (size_t i = 0; !code && i < calls.call_count; i++) {
    json_open(writer, NULL, '{');
    json_put_string(writer, "call_id", calls.calls[i].call_id);
    json_put_string(writer, "tool", calls.calls[i].tool);
    json_close(writer, '}');
  }
  json_close(writer, ']');
  return code;
}

int query_status(struct question *question, struct tidings_error *error) {
  static const char *const phases[] = {NULL, "streaming", "tools"};
  struct json_writer *writer = &question->writer;
  struct stored_run stored = {.from = 0};
  struct tidings_reply reply = {.size = sizeof reply};
  int code =
      question->op.session ? stored_run_load(&question->op, &stored, NULL, 0, NULL, error) : 0;
  if (code) return code;
  const struct run *run = &stored.turns.run;
  code = reply_status(&reply, &question->op, &stored.turns, error);
  if (code) return code;
  const struct tidings_status *status = reply.status;
  json_put_text(writer, "state", run_state_name(run->state));
  if (run->phase) json_put_text(writer, "phase", phases[run->phase]);
  json_open(writer, "messages", '[');
  for (size_t i = 0; i < status->message_count; i++)
    json_put_string(writer, NULL, *status->messages[i]);
  json_close(writer, ']');
  write_time_or_null(writer, "started_at", run->started_ms);
  json_put_u64(writer, "attempt", run->attempt);
  write_text_or_null(writer, "message", run->words);
  json_open(writer, "orphaned", '[');
  for (size_t i = 0; i < status->orphaned_count; i++)
    json_put_string(writer, NULL, *status->orphaned[i]);
  json_close(writer, ']');
  code = write_orphaned_calls(writer, &question->op, run, error);
  if (code) return code;
  write_queue(writer, &stored.turns);
  json_put_bool(writer, "compacting", run->compacting);
  json_put_bool(writer, "stopping", run->stop != STOP_NONE);
  json_put_bool(writer, "held",
                question->op.session && run->state == RUN_IDLE &&
                    run->auto_turns >= question->op.settings->max_auto_turns);
  query_write_attachment(writer, &question->op);
  return write_leased(writer, &question->op, error);
}
