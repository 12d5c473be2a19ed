/* SPDX-License-Identifier: MIT
 *
 * query/explain_message.c: the part of `explain` for messages: what happened to a message, from the
 * transitions that the store still has.
 */
#include "common/error.h"
#include "query/past.h"

struct explanation {
  struct question *question;
  struct buffer text;
  uint8_t state;     /* the last that was explained; 0: none */
  uint64_t moved_to; /* number of the session that has it now; 0: none */
};

/* The step changed the message, though it may have left its state alone. */
static bool changes_message(enum turns_event event) {
  return event == TURNS_EDIT || event == TURNS_MOVE;
}

/* Says what the step did to the message, as the rest of a sentence. */
static void write_step(unsigned event, bool state_changed, unsigned state, struct buffer *out) {
  static const char *const states[MESSAGE_STATE_COUNT] = {
      [MESSAGE_QUEUED] = "it was put into the queue",
      [MESSAGE_STEERING] = "it was kept for the next tool result of the running turn",
      [MESSAGE_OFFERED] = "the host was asked to start a turn with it",
      [MESSAGE_LEASED] = "it was handed to the host, to be sent to the model",
      [MESSAGE_FIRED] = "it became part of a turn",
      [MESSAGE_CANCELLED] = "it left the queue",
      [MESSAGE_CLOSED] = "it left the queue",
  };
  if (event == TURNS_EDIT) buffer_text(out, "its text was changed");
  if (event == TURNS_MOVE) buffer_text(out, "its place in the queue was changed");
  if (changes_message(event) && state_changed) buffer_text(out, ", and ");
  const char *text = state < MESSAGE_STATE_COUNT ? states[state] : NULL;
  if (state_changed) buffer_text(out, text ? text : message_state_name(state));
}

static void explain_step(struct explanation *explanation, const struct transition *transition,
                         uint8_t state) {
  struct json_writer *writer = &explanation->question->writer;
  const char *event = query_event_name(transition->event);
  bool unknown = !explanation->state && transition->event != TURNS_SUBMIT;
  bool changes = changes_message(transition->event);
  json_open(writer, NULL, '{');
  json_put_time(writer, "time", transition->time_ms);
  json_put_text(writer, "event", event);
  json_put_text(writer, "state", message_state_name(state));
  json_close(writer, '}');
  if (unknown) buffer_text(&explanation->text, "What happened to it before is no longer stored. ");
  buffer_text(&explanation->text, "At ");
  past_write_time(&explanation->text, transition->time_ms);
  buffer_format(&explanation->text, " (%s) ", event);
  write_step(transition->event, state != explanation->state && !(unknown && changes), state,
             &explanation->text);
  buffer_text(&explanation->text, ". ");
  explanation->state = state;
  explanation->moved_to = transition->event == TURNS_COLLECTED ? transition->system : 0;
}

static int explain_transition(void *context, const struct transition *transition) {
  struct explanation *explanation = context;
  for (size_t i = 0; i < transition->message_count; i++) {
    const struct transition_message *message = &transition->messages[i];
    if (!span_equal(message->id, explanation->question->request->message)) continue;
    if (message->state != explanation->state || changes_message(transition->event))
      explain_step(explanation, transition, message->state);
  }
  return 0;
}

static void explain_end(struct buffer *text, const struct message *message) {
  static const char *const ends[MESSAGE_STATE_COUNT] = {
      [MESSAGE_QUEUED] = "It waits for a turn.",
      [MESSAGE_STEERING] = "It waits for the next tool result of the running turn.",
      [MESSAGE_OFFERED] = "The host has not started that turn yet.",
      [MESSAGE_LEASED] = "The host has not confirmed yet that it was sent.",
      [MESSAGE_FIRED] = "The model has it.",
      [MESSAGE_CANCELLED] = "It was cancelled before it started a turn.",
      [MESSAGE_CLOSED] = "The session was closed before it started a turn.",
  };
  if (message->due_ms && !message_is_over(message->state)) {
    buffer_text(text, "No turn starts with it before ");
    past_write_time(text, message->due_ms);
    buffer_text(text, ". ");
  }
  buffer_text(text, ends[message->state]);
}

int query_explain_message(struct question *question, struct tidings_error *error) {
  struct op *op = &question->op;
  struct json_writer *writer = &question->writer;
  struct tidings_span id = question->request->message;
  struct explanation explanation = {.question = question, .text = BUFFER_EMPTY};
  struct message message;
  uint64_t n = 0;
  int code = op->session ? message_find(op->txn, op->session, id, &n, error) : 0;
  if (!code && !n)
    code = fail(error, TIDINGS_E_NOT_FOUND, "session %s has no message %s", quote(op->name).text,
                quote(id).text);
  if (!code) code = message_get(op->txn, op->session, n, &op->arena, &message, error);
  if (code) return code;
  json_put_string(writer, "message", id);
  json_put_text(writer, "state", message_state_name(message.state));
  json_open(writer, "steps", '[');
  code =
      transition_scan(op->txn, op->session, 1, &op->arena, explain_transition, &explanation, error);
  json_close(writer, ']');
  if (explanation.moved_to) buffer_text(&explanation.text, "Another session took it over.");
  else explain_end(&explanation.text, &message);
  json_put_string(writer, "text", buffer_view(&explanation.text));
  if (explanation.text.failed) writer->out->failed = true;
  buffer_free(&explanation.text);
  return code || !explanation.moved_to ? code
                                       : query_write_moved(question, explanation.moved_to, error);
}
