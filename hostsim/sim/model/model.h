/* SPDX-License-Identifier: MIT
 *
 * sim/model/model.h: what a session ought to be, by docs/turns.md and docs/semantics.md: a second,
 * naive implementation that keeps everything in arrays. Knows no plugin, no store and no JSON; what
 * it is compared with is elsewhere. A model is copied by assignment.
 */
#ifndef HOSTSIM_SIM_MODEL_H
#define HOSTSIM_SIM_MODEL_H

#include "sim/model/act.h"

#include <stddef.h>

/* As many as the longest schedule makes. The program that explores single steps compiles smaller
 * arrays, because it copies models a lot. */
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
  bool caused_by, has_asked; /* asked: it has had its turn offered */
  uint32_t text;
  int64_t time_ms, ttl_ms;   /* time_ms: of its push, or when it is due if that is later */
  int64_t pushed_ms, due_ms; /* due_ms 0: at once */
  enum held held;
  enum outcome outcome; /* LEASED, ENDED */
  bool took_back;       /* ENDED: it was silent, and nothing was shown with it */
  bool recalled;        /* LEASED: it was polled since; a rollback ends it */
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
  bool waited;    /* queued_at is shown */
  bool steered;   /* MESSAGE_LEASED: on a tool result */
  bool delivered; /* a carrier with it was committed: it is in the transcript */
  uint32_t text;
  int64_t stamp_ms;
  unsigned turn; /* MESSAGE_LEASED, MESSAGE_FIRED: of which turn */
};

enum delivery_state { DELIVERY_LEASED, DELIVERY_COMMITTED, DELIVERY_ROLLED_BACK, DELIVERY_REWOUND };

/* A change of the run's state, and what made it: an act_kind, or RECOVERED. */
enum { RECOVERED = ACT_KINDS };
struct model_change {
  uint8_t cause, from, to;
};

struct model_delivery {
  uint64_t public_id; /* as the plugin names it; 0: never named */
  enum delivery_state state;
  bool on_tool_result, held; /* held: while a rewind is done: it is named */
  bool on_return;            /* on_return: no host received its id */
  /* 1 + how each item ends when it is committed; 0: not by it. */
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
  unsigned serial; /* of the turn that runs, or was the last */
  int64_t started_ms;
  uint32_t attempt, words; /* words: of retrying, waiting, failed; 0: none */
  int orphaned[MODEL_MESSAGES];
  unsigned orphaned_count;
  bool offer_known; /* STARTING: the host knows of the offer */
  bool aborted;     /* the running turn's stream was asked to stop */
  enum stop { STOP_NONE, STOP_ASKED, STOP_GIVEN } stop; /* of the turn; given: the host knows */
  bool compacting;                                      /* nothing is offered, steered or aborted */
  bool delayed; /* IDLE: since delay_begin_ms; until its end nothing is offered */
  int64_t delay_begin_ms;
  unsigned batch_end;           /* how many messages there were then */
  int64_t aborts[MODEL_ABORTS]; /* when */
  unsigned abort_count, auto_turns;
  int64_t asked_ms;     /* when items asked last, or it was decided that they do not */
  unsigned asked_count; /* the items before this one did */
  int unfit; /* items before this one had no room on a chat request, and ask for nothing */
};

struct model_peer {
  unsigned process; /* counts restarts: another one is another owner */
  bool former;      /* the session was taken from it */
  struct sim_settings settings;
};

struct model {
  int64_t start_ms, now_ms, last_stamp_ms;
  struct model_peer peers[PEERS];
  struct sim_settings settings; /* what a process starts with */
  bool one_phase;               /* settle_on_return: a carrier is committed when the hook returns */
  bool owned;
  enum peer owner;
  unsigned owner_process;
  uint64_t epoch;

  struct model_item items[MODEL_ITEMS];
  unsigned item_count;
  struct model_message messages[MODEL_MESSAGES];
  unsigned message_count;
  int queue[MODEL_MESSAGES]; /* all messages that were submitted, by their places */
  unsigned queue_length;
  unsigned system_count;
  struct model_delivery deliveries[MODEL_DELIVERIES];
  unsigned delivery_count;
  unsigned preamble; /* 1 + the delivery that said what blocks are; 0: none that counts */
  struct model_run run;
  enum run_state found; /* the state in which the act finds the run: after a recovery */
  bool stop_is_new;     /* the act asks for the turn's end, and nobody did before */
  struct model_change changes[MODEL_CHANGES];
  unsigned change_count;
  uint32_t seen; /* bit n: the CloudEvents id n was seen */
  uint64_t outcomes[OUTCOMES];
};

/* The answer of a call. The status is read from the model. */
struct answer {
  int error;        /* TIDINGS_E_*, or 0; then nothing else holds */
  bool silent;      /* there must be no reply */
  bool optional;    /* there may be none: it says nothing that has to be done */
  bool rolled_back; /* a settle did that just now */
  bool duplicate, ledger, abort_stream, stop_turn;
  bool wakes;
  int64_t wake_at_ms;
  int delivery; /* index, or -1 */
  unsigned shown_count, steered_count, offered_count;
  unsigned waiting; /* so many more are pending, as the text says */
  bool bare;        /* without the sentences that say what a block is */
  int shown[MODEL_ITEMS], steered[MODEL_MESSAGES], offered[MODEL_MESSAGES];
};

/* A session without any event; every process runs and has these settings. */
void model_init(struct model *model, const struct sim_settings *settings, bool one_phase,
                int64_t now_ms);

void model_apply(struct model *model, const struct act *act, struct answer *ret_answer);

/* Applies only the first commit of a call that has two: a hook's host becomes the session's owner;
 * a notification is stored before its effects. False: this call has one commit. */
bool model_apply_first(struct model *model, const struct act *act);

/* Compares byte for byte. Equal models may differ in padding; then both are kept, which is
 * harmless. */
bool model_is_same(const struct model *a, const struct model *b);

/* The process is another one now, with the settings that it starts with. */
void model_process_ended(struct model *model, enum peer peer);

/* Must the sleeping owner wake up after an act of another process? */
bool model_must_ring(const struct model *model, const struct act *act, const struct answer *answer);

/* Does a block begin without the sentences that say what it is? */
bool model_is_bare(const struct model *model, const struct sim_settings *settings);

bool model_owner_is(const struct model *model, enum peer peer);
bool model_owner_lives(const struct model *model);

#endif
