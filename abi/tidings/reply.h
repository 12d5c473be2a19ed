/* SPDX-License-Identifier: MIT
 *
 * tidings/reply.h: what a hook or an event answers: text to send along, things to do, and how the
 * session stands.
 *
 * All of it belongs to the plugin, is constant, and lives until `release`. Arrays are arrays of
 * pointers, so that their elements may grow. The JSON form with the same facts is described in
 * schema/reply.schema.json.
 */
#ifndef TIDINGS_REPLY_H
#define TIDINGS_REPLY_H

#include <tidings/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One notification that this delivery hands out, for hosts that render it themselves or record it.
 * Since 1.0. */
struct tidings_notification {
  uint32_t size;
  uint32_t level; /* TIDINGS_LEVEL_* */
  uint64_t id; /* the item's id, as queries name it; of the first one when it stands for several */
  int64_t time_ms;            /* when it was pushed */
  struct tidings_span source; /* "tool" */
  struct tidings_span name;   /* "failed"; may be empty */
  struct tidings_span text;   /* as pushed (or coalesced): not escaped */
  struct tidings_span data;   /* JSON, or empty */
  uint32_t count; /* how many pushed notifications it stands for: 1, or more when coalesced */
  uint32_t reserved;
};

/* Whose voice a text is in. */
#define TIDINGS_VOICE_CARRIER 0u   /* part of the carrier's own text */
#define TIDINGS_VOICE_BLOCK 1u     /* a content block of its own inside the carrier's message */
#define TIDINGS_VOICE_DEVELOPER 2u /* a message of its own, role developer (or system) */
#define TIDINGS_VOICE_USER 3u      /* a message of its own, role user */
/* a synthetic call of `tool` with id `call_id` and its result `text` */
#define TIDINGS_VOICE_TOOL 4u

/* Where a text goes. */
/* text, then the carrier's own text: plain concatenation, separators are in `text` */
#define TIDINGS_PLACE_PREPEND 0u
#define TIDINGS_PLACE_APPEND 1u /* the carrier's own text, then text: plain concatenation */
#define TIDINGS_PLACE_BEFORE 2u /* a message before the carrier */
/* a message after the carrier (after the batch's last result, if it is a tool result) */
#define TIDINGS_PLACE_AFTER 3u
#define TIDINGS_PLACE_PAIR 4u /* a synthetic call and its result, after the carrier */

/* What to send, already escaped: where and in whose voice. Since 1.0. */
struct tidings_part {
  uint32_t size;
  uint32_t voice; /* TIDINGS_VOICE_* */
  uint32_t place; /* TIDINGS_PLACE_* */
  uint32_t reserved;
  struct tidings_span text;
  struct tidings_span call_id; /* TIDINGS_VOICE_TOOL only */
  struct tidings_span tool;    /* TIDINGS_VOICE_TOOL only */
};

/* A message that a turn starts with. Since 1.0. */
struct tidings_message {
  uint32_t size;
  uint32_t reserved;
  struct tidings_span id;
  struct tidings_span content; /* as submitted */
  struct tidings_span trigger; /* the trigger's envelope as submitted (JSON), or empty */
  int64_t queued_at_ms; /* when it began to wait; 0: it never did, it was offered in the step that
                           stored it */
};

/* start a turn with `messages`; name their ids in the chat request */
#define TIDINGS_ACTION_START_TURN 1u
/* stop the model's stream, keep the partial answer as truncated, do not retry */
#define TIDINGS_ACTION_ABORT_STREAM 2u

#define TIDINGS_CAUSE_NONE 0u
#define TIDINGS_CAUSE_CRITICAL 1u

/* Something that the host is asked to do, in the order of the array. A host skips types that it
 * does not know. Since 1.0. */
struct tidings_action {
  uint32_t size;
  uint32_t type;   /* TIDINGS_ACTION_* */
  uint32_t cause;  /* TIDINGS_CAUSE_* */
  uint32_t origin; /* START_TURN: TIDINGS_ORIGIN_* (plugin.h) */
  const struct tidings_message *const *messages;
  size_t message_count;
};

#define TIDINGS_STATE_IDLE 0u
#define TIDINGS_STATE_STARTING 1u /* a turn is offered */
#define TIDINGS_STATE_BUSY 2u
#define TIDINGS_STATE_RETRYING 3u
#define TIDINGS_STATE_WAITING 4u /* for a person: approval or input */
#define TIDINGS_STATE_ERROR 5u

#define TIDINGS_PHASE_UNKNOWN 0u
#define TIDINGS_PHASE_STREAMING 1u
#define TIDINGS_PHASE_TOOLS 2u

/* How the session stands. Since 1.0. */
struct tidings_status {
  uint32_t size;
  uint32_t state;                             /* TIDINGS_STATE_* */
  uint32_t phase;                             /* TIDINGS_PHASE_*, in BUSY */
  uint32_t attempt;                           /* in RETRYING */
  const struct tidings_span *const *messages; /* ids of the turn offered or running */
  size_t message_count;
  int64_t started_at_ms; /* of the running turn; 0: none runs */
  /* what the host said with retrying, waiting or failed; may be empty */
  struct tidings_span detail;
  const struct tidings_span *const
      *orphaned; /* ids of the messages, or of the system turn, that ran when the host died */
  size_t orphaned_count;
};

#define TIDINGS_REPLY_DUPLICATE 1u /* the event was seen before and had no effect */

/* Since 1.0. */
struct tidings_reply {
  uint32_t size;
  uint32_t flags;       /* TIDINGS_REPLY_* */
  uint64_t delivery_id; /* 0: nothing to settle */
  const struct tidings_notification *const
      *notifications; /* in the order in which they are shown */
  size_t notification_count;
  const struct tidings_part *const *parts; /* what to send: apply in this order */
  size_t part_count;
  const struct tidings_action *const *actions; /* do in this order */
  size_t action_count;
  const struct tidings_span *const
      *steered; /* ids of the messages that this delivery injects into the running turn */
  size_t steered_count;
  const struct tidings_status *status; /* never NULL */
  int64_t wake_at_ms;                  /* send a `wake` event at this wall-clock time; 0: no need */
  struct tidings_span ledger; /* session.compacted only: JSON (schema/reply.schema.json): what is
                                 pending and queued; else empty */
};

#ifdef __cplusplus
}
#endif

#endif
