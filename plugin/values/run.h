/* SPDX-License-Identifier: MIT
 *
 * values/run.h: a session's run (its turn, its queue's limits) and its messages, as rules/turns
 * decides about them and the store keeps them. No behaviour.
 */
#ifndef VALUES_RUN_H
#define VALUES_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

/* Numbers as in the ABI (TIDINGS_STATE_*, TIDINGS_PHASE_*); stored. */
enum run_state {
  RUN_IDLE = 0,
  RUN_STARTING = 1,
  RUN_BUSY = 2,
  RUN_RETRYING = 3,
  RUN_WAITING = 4,
  RUN_ERROR = 5,
  RUN_STATE_COUNT
};
enum run_phase { PHASE_UNKNOWN = 0, PHASE_STREAMING = 1, PHASE_TOOLS = 2, PHASE_COUNT };
const char *run_state_name(unsigned state); /* "idle" */

/* The owner of the turn that is offered or runs. Stored. */
enum turn_kind { TURN_OF_HOST = 0, TURN_OF_MESSAGES = 1, TURN_OF_SYSTEM = 2, TURN_KIND_COUNT };

/* Has somebody asked for the turn to end? Stored. */
enum stop { STOP_NONE = 0, STOP_ASKED = 1, STOP_GIVEN = 2 /* the host knows */, STOP_COUNT };

enum { MAX_ABORTS = 64 }; /* what critical.max_aborts may be */

/* A session's run. Zero is a session without any event. */
struct run {
  uint8_t state, phase, kind;
  uint8_t stop;     /* enum stop: of the turn that is offered or runs */
  bool offer_known; /* STARTING: the host knows of the offer */
  bool aborted;     /* this turn's stream was asked to stop */
  bool compacting;  /* between session.compacting and .compacted */
  bool steering;    /* some message waits for the running turn's next tool result */
  bool settling;    /* IDLE: the next batch waits for turns.settle_delay_ms since settle_since_ms */
  uint32_t attempt;
  struct tidings_span words; /* what the host said with retrying, waiting, failed; may be empty */
  int64_t started_ms;        /* of the running turn, by its host's clock */
  int64_t settle_since_ms;
  uint64_t settle_last;  /* the newest message that the waiting batch may hold */
  uint64_t system_turns; /* number of the newest turn of the plugin's own */
  uint64_t system_item;  /* the item that it was started for */
  uint64_t orphaned; /* number of the turn of the plugin's own that ran when its host died; 0: none,
                        or another turn has started */
  bool calls_orphaned; /* calls of tools ran when the host died, and no turn has started since: they
                          are remembered (values/memory.h) */
  uint32_t auto_turns; /* system turns in a row, without a message's or the host's in between */
  uint64_t newest_asking; /* items up to this one have asked for a turn, if they were due .. */
  int64_t asked_ms;       /* .. at this time; 0: all were */
  uint64_t unfit; /* pending items up to this one, if they were due at asked_ms, had no room on a
                     chat request: they are not urgent and ask for nothing */
  uint64_t last_message;  /* number of the newest message */
  uint64_t first_message; /* none below is alive; 0 and 1 both mean none is known */
  uint64_t last_place;    /* of the newest or the one moved to the end */
  int64_t last_stamp_ms;
  uint32_t abort_count;
  int64_t aborts_ms[MAX_ABORTS]; /* when streams were asked to stop, newest last */
};

/* A turn is offered, and about to run, or runs. */
static inline bool run_has_turn(const struct run *run) {
  return run->state != RUN_IDLE && run->state != RUN_ERROR;
}

/* Stored. */
enum message_state {
  MESSAGE_QUEUED = 1,
  MESSAGE_STEERING = 2,
  MESSAGE_OFFERED = 3,
  MESSAGE_LEASED = 4,
  MESSAGE_FIRED = 5, /* this and what follows: over */
  MESSAGE_CANCELLED = 6,
  MESSAGE_CLOSED = 7,
  MESSAGE_STATE_COUNT
};
const char *message_state_name(unsigned state); /* "queued" */
static inline bool message_is_over(unsigned state) { return state >= MESSAGE_FIRED; }

struct message {
  uint64_t n;        /* its number in the session: they grow in commit order */
  uint64_t place;    /* where it stands in the queue */
  uint64_t delivery; /* the newest that carries or carried it; 0: none */
  uint32_t carriers; /* LEASED: how many unsettled ones carry it: a host may send a request again
                        before it settles the first */
  int64_t stamp_ms;  /* queued_at, should it have to wait */
  int64_t due_ms;    /* not offered before; 0: at once, or it has been offered; over: its end */
  struct tidings_span id;
  uint8_t state;
  bool steer;    /* meant for the running turn: a rollback brings it back there */
  bool waited;   /* it has a queued_at */
  bool of_turn;  /* of the turn that is offered or runs */
  bool orphaned; /* of the turn that ran when its host died */
  bool changed;  /* by this step */
  bool fresh;    /* stored by this step */
  bool named;    /* scratch */
};

/* Numbers are stored: append. */
enum turns_event {
  TURNS_SUBMIT, /* anybody's: */
  TURNS_CANCEL,
  TURNS_EDIT,
  TURNS_MOVE,
  TURNS_CHAT_REQUEST, /* the host's: one that names messages */
  TURNS_STARTED,      /* naming messages */
  TURNS_STARTED_OWN,  /* naming none */
  TURNS_DECLINED,
  TURNS_FINISHED,
  TURNS_ABORTED,
  TURNS_FAILED,
  TURNS_RETRYING,
  TURNS_WAITING,
  TURNS_RESUME,
  TURNS_STREAM_STARTED,
  TURNS_STREAM_FINISHED,
  TURNS_TOOLS_STARTED,
  TURNS_TOOLS_FINISHED,
  TURNS_TOOL_RESULT,
  TURNS_OPENED,
  TURNS_COMPACTING,
  TURNS_COMPACTED,
  TURNS_CLOSED,
  TURNS_LOOK,      /* nothing but that the host called: wake */
  TURNS_COMMITTED, /* the carrier `delivery` is in the transcript */
  TURNS_ROLLED_BACK,
  TURNS_RECOVERED, /* a host attaches whose predecessor is gone; its leases were resolved by the two
                      before */
  TURNS_NOTIFICATION, /* something pending asks for attention */
  TURNS_RESUMED,      /* of the session: as opened */
  TURNS_FORKED,
  TURNS_REDIRECT,  /* anybody's */
  TURNS_REWOUND,   /* the transcript has lost carriers */
  TURNS_COLLECTED, /* another session has taken over what waits */
  TURNS_STOP,      /* anybody's */
  TURNS_EVENT_COUNT
};

/* The id of turn `n` of the plugin's own. */
#define SYSTEM_TURN_PREFIX "tidings:"
struct system_id {
  char text[32];
};
struct system_id system_turn_id(uint64_t n);

#endif
