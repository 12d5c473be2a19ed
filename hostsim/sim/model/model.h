/* SPDX-License-Identifier: MIT
 *
 * sim/model/model.h: a second, naive implementation of docs/turns.md and docs/semantics.md, which
 * keeps a session in arrays. It uses no plugin, no store and no JSON; other files compare it with
 * the plugin. A model is copied by assignment.
 */
#ifndef HOSTSIM_SIM_MODEL_H
#define HOSTSIM_SIM_MODEL_H

#include "sim/model/act.h"

#include <stddef.h>

/* The arrays are as large as the longest schedule needs. The program that explores single steps is
 * compiled with smaller ones, because it copies models often. */
#ifdef MODEL_OF_A_STEP
enum { MODEL_MESSAGES = 8, MODEL_ITEMS = 4, MODEL_DELIVERIES = 4, MODEL_ABORTS = 8 };
#else
enum { MODEL_MESSAGES = 512, MODEL_ITEMS = 384, MODEL_DELIVERIES = 512, MODEL_ABORTS = 512 };
#endif
enum { MODEL_CHANGES = 2 * MODEL_MESSAGES };

enum outcome { DELIVERED, SUPERSEDED, WITHDRAWN, EXPIRED, FILTERED, DROPPED, CLOSED, OUTCOMES };
enum held { PENDING, LEASED, ENDED };

struct model_item {
  uint8_t note, level, key, handle;
  enum activation activation;
  bool caused_by, has_asked; /* has_asked: a turn was offered for it */
  uint32_t text;
  int64_t time_ms, ttl_ms;   /* time_ms: when it was pushed, or is due if that is later */
  int64_t pushed_ms, due_ms; /* due_ms 0: at once */
  enum held held;
  enum outcome outcome; /* LEASED, ENDED */
  bool took_back;       /* ENDED: it was silent, and ended without a delivery */
  bool recalled;        /* LEASED: it was polled meanwhile, so a rollback ends it */
  int delivery;         /* LEASED */
};

enum message_state {
  MESSAGE_QUEUED,
  MESSAGE_STEERING,
  MESSAGE_OFFERED,
  MESSAGE_LEASED,
  MESSAGE_FIRED,
  MESSAGE_CANCELLED,
  MESSAGE_CLOSED
};

struct model_message {
  int id;
  enum message_state state;
  bool system, trigger;
  bool waited;    /* queries show queued_at */
  bool steered;   /* MESSAGE_LEASED: on a tool result */
  bool delivered; /* a delivery with it was committed, so the transcript has it */
  uint32_t text;
  int64_t stamp_ms;
  unsigned turn; /* MESSAGE_LEASED, MESSAGE_FIRED: the turn's number */
};

enum delivery_state { DELIVERY_LEASED, DELIVERY_COMMITTED, DELIVERY_ROLLED_BACK, DELIVERY_REWOUND };

/* A change of the run's state, and its cause: an act_kind, or RECOVERED. */
enum { RECOVERED = ACT_KINDS };
struct model_change {
  uint8_t cause, from, to;
};

struct model_delivery {
  uint64_t public_id; /* as the plugin names it; 0: never named */
  enum delivery_state state;
  bool on_tool_result, held; /* held: during a rewind, the act names it */
  bool on_return;            /* on_return: no host received its id */
  bool closed;               /* it was leased when the session was closed */
  /* For each item, 1 + its outcome when the delivery is committed; 0: the delivery does not end
   * it. */
  uint8_t item_outcomes[MODEL_ITEMS];
  uint64_t carries[(MODEL_MESSAGES + 63) / 64]; /* bit n: message n */
};

enum run_state { IDLE, STARTING, BUSY, RETRYING, WAITING, FAILED };
enum phase { PHASE_UNKNOWN, PHASE_STREAMING, PHASE_TOOLS };

struct model_run {
  enum run_state state;
  enum phase phase;
  int turn[MODEL_MESSAGES]; /* messages of the turn that is offered or runs */
  unsigned turn_count;
  unsigned serial; /* the number of the running or last turn */
  int64_t started_ms;
  uint32_t attempt, words; /* words: for retrying, waiting and failed; 0: none */
  int orphaned[MODEL_MESSAGES];
  unsigned orphaned_count;
  bool offer_known; /* STARTING: the host knows of the offer */
  bool aborted;     /* the running turn's stream was asked to stop */
  enum stop {
    STOP_NONE,
    STOP_ASKED,
    STOP_GIVEN
  } stop;          /* a requested end of the turn; STOP_GIVEN: the host knows of it */
  bool compacting; /* nothing is offered, steered or aborted */
  bool delayed;    /* IDLE: a settle delay runs since delay_begin_ms; nothing is offered */
  int64_t delay_begin_ms;
  unsigned batch_end;           /* how many messages there were at delay_begin_ms */
  int64_t aborts[MODEL_ABORTS]; /* their times */
  unsigned abort_count, auto_turns;
  int64_t asked_ms;     /* when items last asked for a turn, or were found not to ask */
  unsigned asked_count; /* all items before this one have asked */
  int unfit; /* items before this one had no room in a chat request, so they ask for nothing */
};

struct model_peer {
  unsigned process; /* counts restarts, because a restarted process is another owner */
  bool former;      /* the session was taken over from it */
  struct sim_settings settings;
};

struct model {
  int64_t start_ms, now_ms, last_stamp_ms;
  struct model_peer peers[PEERS];
  struct sim_settings settings; /* the settings with which a process starts */
  bool one_phase; /* settle_on_return: a delivery is committed when the hook returns */
  bool owned;
  enum peer owner;
  unsigned owner_process;
  uint64_t epoch;

  struct model_item items[MODEL_ITEMS];
  unsigned item_count;
  struct model_message messages[MODEL_MESSAGES];
  unsigned message_count;
  int queue[MODEL_MESSAGES]; /* all submitted messages, in the order of the queue */
  unsigned queue_length;
  unsigned system_count;
  struct model_delivery deliveries[MODEL_DELIVERIES];
  unsigned delivery_count;
  unsigned preamble; /* 1 + the delivery that had the preamble; 0: none that counts */
  struct model_run run;
  enum run_state found; /* the run's state before the act, but after a recovery */
  bool stop_is_new;     /* this act is the first to ask for the turn's end */
  struct model_change changes[MODEL_CHANGES];
  unsigned change_count;
  uint32_t seen; /* bit n: CloudEvents id n was seen */
  uint64_t outcomes[OUTCOMES];
};

/* The answer of a call. The status is read from the model. */
struct answer {
  int error;        /* TIDINGS_E_*, or 0; with an error, nothing below counts */
  bool silent;      /* there must be no reply */
  bool optional;    /* there may be no reply, because there is nothing to do */
  bool rolled_back; /* this settle has rolled a delivery back */
  bool duplicate, ledger, abort_stream, stop_turn;
  bool wakes;
  int64_t wake_at_ms;
  int delivery; /* index, or -1 */
  unsigned shown_count, steered_count, offered_count;
  unsigned waiting; /* the number of further pending items in the text */
  bool bare;        /* without the preamble */
  int shown[MODEL_ITEMS], steered[MODEL_MESSAGES], offered[MODEL_MESSAGES];
};

/* Makes a session without events. Every process runs and has these settings. */
void model_init(struct model *model, const struct sim_settings *settings, bool one_phase,
                int64_t now_ms);

void model_apply(struct model *model, const struct act *act, struct answer *ret_answer);

/* If a call has two commits, applies only the first: a hook's host becomes the session's owner, or
 * a notification is stored without its effects. False: this call has one commit. */
bool model_apply_first(struct model *model, const struct act *act);

/* Compares byte by byte. If equal models differ in padding, both are kept, which is harmless. */
bool model_is_same(const struct model *a, const struct model *b);

/* Call it when the process has ended and was started again, as another one, with its first
 * settings. */
void model_process_ended(struct model *model, enum peer peer);

/* Must the sleeping owner wake up after an act of another process? */
bool model_must_ring(const struct model *model, const struct act *act, const struct answer *answer);

/* Does a block begin without the preamble? */
bool model_is_bare(const struct model *model, const struct sim_settings *settings);

bool model_owner_is(const struct model *model, enum peer peer);
bool model_owner_lives(const struct model *model);

#endif
