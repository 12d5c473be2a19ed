/* SPDX-License-Identifier: MIT
 *
 * tests/model/view.h: what the machine and the oracle must agree on: a session before or after a
 * move, in values of its own.
 */
#ifndef TESTS_MODEL_VIEW_H
#define TESTS_MODEL_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/model/act.h"

enum { VIEW_MESSAGES = 3, VIEW_CARRIERS = 2, VIEW_ABORTS = 8 };
enum { VIEW_SYSTEM = 0x80 }; /* SYSTEM_TURN of world.h */
enum { VIEW_ITEM_NONE, VIEW_ITEM_PENDING, VIEW_ITEM_LEASED };

/* The settings, and the properties of the notification. */
struct view_setup {
  struct sim_settings settings;
  bool one_phase, item_urgent, item_asks;
};

/* All fields have one width, so there is no padding: views are compared as bytes. */
struct view_run {
  int64_t state, phase; /* TIDINGS_STATE_*, TIDINGS_PHASE_* */
  int64_t turn;         /* mask: the messages of the offered or running turn */
  int64_t orphaned;     /* mask */
  int64_t started_ms, offer_known, aborted, stop, compacting;
  int64_t settling, settle_since_ms, settle_last;
  int64_t system_turns, auto_turns;
  int64_t abort_count, aborts_ms[VIEW_ABORTS];
};

struct view_message {
  int64_t state; /* TIDINGS_MESSAGE_*; 0: not submitted */
  int64_t stamp_ms, waited;
  int64_t steered;   /* leased: a rollback puts it back into the turn */
  int64_t delivered; /* fired: with a delivery, not only by turn.started */
};

struct view_carrier {
  int64_t out, item;
  int64_t messages; /* mask */
};

struct view {
  struct view_run run;
  struct view_message messages[VIEW_MESSAGES]; /* by number - 1 */
  int64_t submitted, last_stamp_ms;
  int64_t order[VIEW_MESSAGES]; /* numbers - 1, by place */
  struct view_carrier carriers[VIEW_CARRIERS];
  int64_t item;
  int64_t has_asked;    /* pending: its turn was offered */
  int64_t known, alive; /* a host was attached; it lives */
  int64_t now_ms;
};

/* The answer to the move. */
struct view_answer {
  int error;
  bool offer, abort, stop;
};

#endif
