/* SPDX-License-Identifier: MIT
 *
 * query/transitions.c: the part of `history` and `timeline` that says what a session's run did.
 */
#include "common/error.h"
#include "query/answer.h"

static const char *const event_names[TURNS_EVENT_COUNT] = {
    [TURNS_SUBMIT] = "message.submitted",
    [TURNS_CANCEL] = "message.cancelled",
    [TURNS_EDIT] = "message.edited",
    [TURNS_MOVE] = "message.moved",
    [TURNS_CHAT_REQUEST] = "chat_request",
    [TURNS_STARTED] = "turn.started",
    [TURNS_STARTED_OWN] = "turn.started",
    [TURNS_DECLINED] = "turn.declined",
    [TURNS_FINISHED] = "turn.finished",
    [TURNS_ABORTED] = "turn.aborted",
    [TURNS_FAILED] = "turn.failed",
    [TURNS_RETRYING] = "turn.retrying",
    [TURNS_WAITING] = "turn.waiting",
    [TURNS_RESUME] = "turn.resume",
    [TURNS_STREAM_STARTED] = "stream.started",
    [TURNS_STREAM_FINISHED] = "stream.finished",
    [TURNS_TOOLS_STARTED] = "tools.started",
    [TURNS_TOOLS_FINISHED] = "tools.finished",
    [TURNS_TOOL_RESULT] = "tool_result",
    [TURNS_OPENED] = "session.opened",
    [TURNS_COMPACTING] = "session.compacting",
    [TURNS_COMPACTED] = "session.compacted",
    [TURNS_CLOSED] = "session.closed",
    [TURNS_LOOK] = "wake",
    [TURNS_COMMITTED] = "committed",
    [TURNS_ROLLED_BACK] = "rolled_back",
    [TURNS_RECOVERED] = "recovered",
    [TURNS_NOTIFICATION] = "notification",
    [TURNS_RESUMED] = "session.resumed",
    [TURNS_FORKED] = "session.forked",
    [TURNS_REDIRECT] = "message.redirected",
    [TURNS_REWOUND] = "session.rewound",
    [TURNS_COLLECTED] = "session.collected",
    [TURNS_STOP] = "turn.stop",
};

const char *query_event_name(unsigned event) { return event_names[event]; }

/* A transition may be about a turn of the plugin's own. Says what happened to that turn, in the
 * words for messages. */
static const char *system_state(const struct transition *transition) {
  if (transition->to == RUN_STARTING) return message_state_name(MESSAGE_OFFERED);
  bool starts =
      transition->to == RUN_BUSY || transition->to == RUN_RETRYING || transition->to == RUN_WAITING;
  return message_state_name(starts || transition->from != RUN_STARTING ||
                                    transition->event == TURNS_FINISHED
                                ? MESSAGE_FIRED
                                : MESSAGE_CANCELLED);
}

static void write_transition(struct json_writer *writer, const struct transition *transition) {
  json_open(writer, NULL, '{');
  json_put_time(writer, "time", transition->time_ms);
  json_put_text(writer, "event", query_event_name(transition->event));
  json_put_text(writer, "from", run_state_name(transition->from));
  json_put_text(writer, "to", run_state_name(transition->to));
  if (transition->abort) json_put_bool(writer, "abort_stream", true);
  json_open(writer, "messages", '[');
  if (transition->system && transition->event != TURNS_COLLECTED) {
    struct system_id id = system_turn_id(transition->system);
    json_open(writer, NULL, '{');
    json_put_text(writer, "id", id.text);
    json_put_text(writer, "state", system_state(transition));
    json_close(writer, '}');
  }
  for (size_t i = 0; i < transition->message_count; i++) {
    json_open(writer, NULL, '{');
    json_put_string(writer, "id", transition->messages[i].id);
    json_put_text(writer, "state", message_state_name(transition->messages[i].state));
    json_close(writer, '}');
  }
  json_close(writer, ']');
  json_close(writer, '}');
}

static int write_next(void *context, const struct transition *transition) {
  write_transition(context, transition);
  return 0;
}

int query_write_transitions(struct question *question, uint64_t first,
                            struct tidings_error *error) {
  int code = 0;
  json_open(&question->writer, "transitions", '[');
  if (question->op.session)
    code = transition_scan(question->op.txn, question->op.session, first, &question->op.arena,
                           write_next, &question->writer, error);
  json_close(&question->writer, ']');
  return code;
}
