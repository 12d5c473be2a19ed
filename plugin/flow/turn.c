/* SPDX-License-Identifier: MIT
 *
 * flow/turn.c: translates events into inputs of the machine of turns.
 */
#include "common/error.h"
#include "common/utf8.h"
#include "flow/internal.h"

enum turns_event turn_event_of(const struct event *event) {
  switch (event->type) {
  case EVENT_MESSAGE_SUBMITTED: return TURNS_SUBMIT;
  case EVENT_MESSAGE_CANCELLED: return TURNS_CANCEL;
  case EVENT_MESSAGE_EDITED: return TURNS_EDIT;
  case EVENT_MESSAGE_MOVED: return TURNS_MOVE;
  case EVENT_MESSAGE_REDIRECTED: return TURNS_REDIRECT;
  case EVENT_TURN_STOP: return TURNS_STOP;
  case EVENT_TURN_STARTED: return event->turn.has_messages ? TURNS_STARTED : TURNS_STARTED_OWN;
  case EVENT_TURN_DECLINED: return TURNS_DECLINED;
  case EVENT_TURN_FINISHED: return TURNS_FINISHED;
  case EVENT_TURN_ABORTED: return TURNS_ABORTED;
  case EVENT_TURN_FAILED: return TURNS_FAILED;
  case EVENT_TURN_RETRYING: return TURNS_RETRYING;
  case EVENT_TURN_WAITING: return TURNS_WAITING;
  case EVENT_TURN_RESUME: return TURNS_RESUME;
  case EVENT_STREAM_STARTED: return TURNS_STREAM_STARTED;
  case EVENT_STREAM_FINISHED: return TURNS_STREAM_FINISHED;
  case EVENT_TOOLS_STARTED: return TURNS_TOOLS_STARTED;
  case EVENT_TOOLS_FINISHED: return TURNS_TOOLS_FINISHED;
  case EVENT_SESSION_OPENED: return TURNS_OPENED;
  case EVENT_SESSION_RESUMED: return TURNS_RESUMED;
  case EVENT_SESSION_REWOUND: return TURNS_REWOUND;
  case EVENT_SESSION_FORKED: return TURNS_FORKED;
  case EVENT_SESSION_COMPACTING: return TURNS_COMPACTING;
  case EVENT_SESSION_COMPACTED: return TURNS_COMPACTED;
  case EVENT_SESSION_CLOSED: return TURNS_CLOSED;
  case EVENT_SESSION_COLLECTED: return TURNS_SUBMIT; /* one for each message that is moved */
  default: return TURNS_LOOK;
  }
}

/* Returns the host's text about a turn, cut to a largest length, because it is stored with the
 * session's head. */
static struct tidings_span words_of(const struct turn_event *turn) {
  enum { WORDS_BYTES = 1024 };
  struct tidings_span words = turn->message.len  ? turn->message
                              : turn->reason.len ? turn->reason
                                                 : turn->kind;
  return span_of(words.ptr, utf8_prefix(words, WORDS_BYTES));
}

/* Returns when the turn was aborted; 0: that cannot be compared with the turn's start, because the
 * host's clock was set back to before it. The clock is read now, because another process may have
 * started the turn after this call began. */
static int64_t aborted_at(const struct op *op, int64_t at_ms) {
  return at_ms && instance_now(op->instance) < op->head.run.started_ms ? 0 : at_ms;
}

int turn_prepare(struct op *op, const struct event *event, struct turns_input *input,
                 struct tidings_error *error) {
  input->attempt = event->turn.attempt;
  input->at_ms =
      event->type == EVENT_TURN_ABORTED ? aborted_at(op, event->turn.at_ms) : event->turn.at_ms;
  if (arena_copy(&op->arena, words_of(&event->turn), &input->words))
    return fail(error, TIDINGS_E_NOMEM, "no memory for an event");
  return 0;
}
