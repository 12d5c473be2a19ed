/* SPDX-License-Identifier: MIT
 *
 * flow/message.c: messages that are submitted, cancelled, edited, moved or redirected.
 */
#include "common/error.h"
#include "flow/internal.h"

static int refuse_known(const struct message *message, struct tidings_error *error) {
  struct quoted id = quote(message->id);
  const char *state = message_state_name(message->state);
  switch (message->state) {
  case MESSAGE_LEASED:
  case MESSAGE_FIRED:
    return fail(error, TIDINGS_E_FIRED,
                "message %s was submitted before and has fired; use a new id for "
                "each message",
                id.text);
  case MESSAGE_CANCELLED:
  case MESSAGE_CLOSED:
    return fail(error, TIDINGS_E_STATE,
                "message %s was submitted before and was %s; use a new id for each "
                "message",
                id.text, state);
  default:
    return fail(error, TIDINGS_E_STATE, "message %s was submitted before and is still waiting (%s)",
                id.text, state);
  }
}

static int check_room(const struct op *op, const struct turns *turns, struct tidings_error *error) {
  uint32_t limit = op->settings->pending_per_session;
  size_t alive = 0;
  for (size_t i = 0; i < turns->count; i++) alive += !message_is_over(turns->messages[i].state);
  if (alive < limit) return 0;
  return fail(
      error, TIDINGS_E_FULL,
      "the session has %zu messages that wait; the limit is %u (limits.pending_per_session)", alive,
      limit);
}

/* Counts notifications, messages with a trigger, and messages without one separately, so that a
 * flood of one kind does not keep out another. A message that is typed into the session's own host
 * is not counted. */
static int check_rate(struct op *op, const struct decision *decision, const struct event *event,
                      struct tidings_error *error) {
  uint32_t limit = op->settings->source_per_minute;
  bool typed = decision->answers && !event->message.trigger.len;
  struct tidings_span counted;
  int64_t wait_ms = 0;
  if (!limit || typed) return 0;
  struct buffer name = BUFFER_EMPTY;
  buffer_text(&name, event->message.trigger.len ? "trigger/" : "message/");
  buffer_span(&name, event->source);
  int failed = name.failed || arena_copy(&op->arena, buffer_view(&name), &counted);
  buffer_free(&name);
  if (failed) return fail(error, TIDINGS_E_NOMEM, "no memory for a message");
  int code = rate_take(op->txn, op->session, counted, op->now_ms, limit, &wait_ms, error);
  if (code || !wait_ms) return code;
  return fail(error, TIDINGS_E_FULL,
              "session %s: source %s has submitted %u messages in a minute, which is the limit "
              "(limits.source_per_minute); wait %lld s",
              quote(op->name).text, quote(event->source).text, limit,
              (long long)((wait_ms + 999) / 1000));
}

static int prepare_submit(struct op *op, struct decision *decision, const struct event *event,
                          ptrdiff_t index, struct turns_input *input, struct tidings_error *error) {
  const struct message_event *message = &event->message;
  struct stored_run *stored = &decision->stored;
  const struct turns *turns = &stored->turns;
  if (index != NOT_A_MESSAGE) return refuse_known(&turns->messages[index], error);
  int code = check_room(op, turns, error);
  if (!code) code = check_rate(op, decision, event, error);
  if (code) return code;
  if (arena_copy(&op->arena, message->id, &input->id) ||
      arena_copy(&op->arena, message->content, &stored->content) ||
      arena_copy(&op->arena, message->trigger, &stored->trigger))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a message");
  input->resume = message->resume;
  input->due_ms = message->due_ms ? message->due_ms + op->ahead_ms : 0;
  stored->added = turns->run.last_message + 1;
  return 0;
}

int message_prepare(struct op *op, struct decision *decision, const struct event *event,
                    const struct naming *naming, struct turns_input *input,
                    struct tidings_error *error) {
  const struct message_event *message = &event->message;
  struct stored_run *stored = &decision->stored;
  ptrdiff_t index = naming->named[0];
  input->named_count = 1;
  input->steer = message->steer;
  if (event->type == EVENT_MESSAGE_SUBMITTED)
    return prepare_submit(op, decision, event, index, input, error);
  if (event->type == EVENT_MESSAGE_MOVED) {
    input->to_end = message->last;
    input->before_id = message->before;
    input->before = message->last ? NOT_A_MESSAGE : naming->named[1];
  }
  if (event->type == EVENT_MESSAGE_EDITED && index != NOT_A_MESSAGE) {
    stored->edited = stored->turns.messages[index].n;
    stored->content = message->content;
  }
  return 0;
}
