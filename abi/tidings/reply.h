/* SPDX-License-Identifier: MIT
 *
 * tidings/reply.h: what a hook, an event or settle answers: texts to send along, things to do, and
 * the session's status.
 *
 * A reply and all that it points to belong to the plugin. They do not change, and they live until
 * the host calls `release` (plugin.h). schema/reply.schema.json describes the JSON form of the same
 * facts; a few members have other names there.
 */
#ifndef TIDINGS_REPLY_H
#define TIDINGS_REPLY_H

#include <tidings/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A notification of this delivery, for hosts that render or record notifications themselves.
 * Since 1.0. */
struct tidings_notification {
  uint32_t size;
  uint32_t level;  /* TIDINGS_LEVEL_* */
  uint64_t id;     /* as queries name it; the first one's if it stands for several */
  int64_t time_ms; /* when it was pushed, or its due_at: milliseconds since 1970-01-01 UTC */
  struct tidings_span kind_source; /* "tool" */
  struct tidings_span kind_name;   /* "failed"; may be empty */
  struct tidings_span text;        /* as pushed, or coalesced from several; not escaped */
  struct tidings_span data;        /* the pushed JSON value, or empty */
  uint32_t count;                  /* how many pushed notifications it stands for: 1 or more */
  uint32_t reserved;               /* 0 */
};
#define TIDINGS_NOTIFICATION_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_notification, reserved)

/* In whose voice the model reads a part. A host that does not know the voice or the place of a part
 * sends its carrier unchanged and rolls the delivery back; but it does not send a chat request that
 * names messages: these then wait again. Since 1.0. */
#define TIDINGS_VOICE_CARRIER 0u   /* it belongs to the carrier's own text */
#define TIDINGS_VOICE_BLOCK 1u     /* a content block of its own, inside the carrier's message */
#define TIDINGS_VOICE_DEVELOPER 2u /* a message of its own in the role developer (or system) */
#define TIDINGS_VOICE_USER 3u      /* a message of its own in the role user */
#define TIDINGS_VOICE_TOOL 4u      /* a synthetic call of `tool` and its result, which is `text` */

/* The place of a part. For one that the host does not know, the rule of voices holds. Since 1.0. */
#define TIDINGS_PLACE_PREPEND 0u /* right before the carrier's text; `text` has the separator */
#define TIDINGS_PLACE_APPEND 1u  /* right after the carrier's text; `text` has the separator */
#define TIDINGS_PLACE_BEFORE 2u  /* a message before the carrier */
#define TIDINGS_PLACE_AFTER 3u   /* a message after the carrier; after a tool batch's last result */
#define TIDINGS_PLACE_PAIR 4u    /* a synthetic call and its result, after the carrier */

/* A text to send, already escaped: where, and in whose voice. Since 1.0. */
struct tidings_part {
  uint32_t size;
  uint32_t voice;    /* TIDINGS_VOICE_* */
  uint32_t place;    /* TIDINGS_PLACE_* */
  uint32_t reserved; /* 0 */
  struct tidings_span text;
  struct tidings_span call_id; /* of the synthetic call; empty unless the voice is TOOL */
  struct tidings_span tool;    /* its tool's name; empty unless the voice is TOOL */
};
#define TIDINGS_PART_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_part, tool)

/* A message that starts a turn. Since 1.0. */
struct tidings_message {
  uint32_t size;
  uint32_t reserved; /* 0 */
  struct tidings_span id;
  struct tidings_span content; /* as submitted */
  struct tidings_span trigger; /* the trigger's envelope as submitted (JSON), or empty */
  int64_t queued_at_ms;        /* when it began to wait; 0: it was offered at once */
};
#define TIDINGS_MESSAGE_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_message, queued_at_ms)

/* The things that a host can be asked to do. A host skips one that it does not know. Since 1.0. */
/* Start a turn with `messages`: send a chat request that names their ids. */
#define TIDINGS_ACTION_START_TURN 1u
/* Stop the model's stream, keep the partial answer marked as truncated, and do not retry. */
#define TIDINGS_ACTION_ABORT_STREAM 2u
/* End the turn: stop the stream and the tools that run, and send turn.aborted. Since 1.2. */
#define TIDINGS_ACTION_STOP_TURN 3u

/* The cause of an action. Treat one that you do not know as NONE. Since 1.0. */
#define TIDINGS_CAUSE_NONE 0u
#define TIDINGS_CAUSE_CRITICAL 1u  /* a critical notification is pending */
#define TIDINGS_CAUSE_REQUESTED 2u /* somebody has asked for it (turn.stop); since 1.2 */

/* An action. A host does the actions in the order of the array. Since 1.0. */
struct tidings_action {
  uint32_t size;
  uint32_t type;                                 /* TIDINGS_ACTION_* */
  uint32_t cause;                                /* TIDINGS_CAUSE_* */
  uint32_t origin;                               /* START_TURN: TIDINGS_ORIGIN_* */
  const struct tidings_message *const *messages; /* START_TURN: what the turn starts with */
  size_t message_count;
};
#define TIDINGS_ACTION_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_action, message_count)

/* The state of a session. Treat one that you do not know as BUSY: start no turn of your own.
 * Since 1.0. */
#define TIDINGS_STATE_IDLE 0u
#define TIDINGS_STATE_STARTING 1u /* a turn is offered */
#define TIDINGS_STATE_BUSY 2u     /* a turn runs */
#define TIDINGS_STATE_RETRYING 3u /* a turn waits before the host tries the model again */
#define TIDINGS_STATE_WAITING 4u  /* a turn waits for a person: approval or input */
#define TIDINGS_STATE_ERROR 5u    /* the last turn failed */

/* The phase of a turn that runs. Treat one that you do not know as UNKNOWN. Since 1.0. */
#define TIDINGS_PHASE_UNKNOWN 0u
#define TIDINGS_PHASE_STREAMING 1u
#define TIDINGS_PHASE_TOOLS 2u

/* How a session stands. Since 1.0. */
struct tidings_status {
  uint32_t size;
  uint32_t state;   /* TIDINGS_STATE_* */
  uint32_t phase;   /* TIDINGS_PHASE_*; UNKNOWN unless BUSY */
  uint32_t attempt; /* in RETRYING: the attempt's number */
  /* ids of the messages of the turn that is offered or runs */
  const struct tidings_span *const *messages;
  size_t message_count;
  int64_t started_at_ms;      /* of the running turn, by its host's clock; 0: none runs */
  struct tidings_span detail; /* the host's own words on retrying, waiting or failed; or empty */
  /* ids of the messages, or of the system turn, that ran when the previous host died; since 1.2
   * followed by the ids of the newest 16 tool calls that ran in it (tools.started with `call_id`)
   */
  const struct tidings_span *const *orphaned;
  size_t orphaned_count;
};
#define TIDINGS_STATUS_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_status, orphaned_count)

/* Flags of a reply. A host ignores a flag that it does not know. Since 1.0. */
#define TIDINGS_REPLY_DUPLICATE 1u /* this event was accepted before; it had no effect now */

/* The answer of a call. Since 1.0. */
struct tidings_reply {
  uint32_t size;
  uint32_t flags;       /* TIDINGS_REPLY_* */
  uint64_t delivery_id; /* to be settled, random in its lower half; 0: there is nothing to settle */
  /* in the order in which they are shown */
  const struct tidings_notification *const *notifications;
  size_t notification_count;
  const struct tidings_part *const *parts; /* what to send; apply them in this order */
  size_t part_count;
  const struct tidings_action *const *actions; /* do them in this order */
  size_t action_count;
  /* ids of the messages that this delivery injects into the running turn */
  const struct tidings_span *const *steered;
  size_t steered_count;
  const struct tidings_status *status; /* never NULL */
  int64_t wake_at_ms;                  /* send a `wake` event at this wall-clock time; 0: no need */
  /* JSON: what is pending and queued (session.compacted); what came of a rewind (session.rewound,
   * session.resumed with `rewound`); what was moved (session.collected); else empty */
  struct tidings_span ledger;
};
#define TIDINGS_REPLY_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_reply, ledger)

#ifdef __cplusplus
}
#endif

#endif
