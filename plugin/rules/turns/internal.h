/* SPDX-License-Identifier: MIT
 *
 * rules/turns/internal.h: what the files of the machine share. Private to turns/.
 */
#ifndef RULES_TURNS_INTERNAL_H
#define RULES_TURNS_INTERNAL_H

#include <tidings/abi.h>

#include "common/error.h"
#include "rules/turns/turns.h"

struct step {
  struct turns *turns;
  struct run *run; /* turns->run */
  const struct turns_input *input;
  struct turns_result result;
  struct tidings_error *error;
};

static inline void set_state(struct message *message, enum message_state state) {
  message->state = (uint8_t)state;
  message->changed = true;
}

/* -- queue.c: the queue, and offers -- */

/* Back into the queue, in its old place; from now on it has a queued_at. */
void turns_requeue(struct message *message);
/* And is it due? */
bool turns_anything_queued(const struct step *step);
/* The next batch becomes an offer, if there is one and offers are allowed at all. */
void turns_offer_batch(struct step *step);
void turns_offer_system_turn(struct step *step);
/* The state is idle now, by the end of a turn: offer, or wait for the settle delay. */
void turns_drain(struct step *step);
void turns_end_settling(struct run *run);
int turns_queue_submit(struct step *step);
int turns_queue_cancel(struct step *step);
int turns_queue_edit(struct step *step);
int turns_queue_move(struct step *step);
int turns_queue_redirect(struct step *step);

/* -- turn.c: how a turn starts and ends -- */

void turns_start_turn(struct step *step, enum turn_kind kind);
/* The offer starts with those of its messages that are named (all: without names), the others are
 * queued again. */
void turns_start_offer(struct step *step, bool all);
/* The offer is taken back; its messages are queued again. The caller sets the state. */
void turns_withdraw_offer(struct step *step);
/* Nothing is of the turn any more, and nothing can be steered into it. The caller sets the
 * state. */
void turns_end_turn(struct step *step);

/* -- names.c: do the ids given mean the turn that is offered or runs? -- */

enum meaning {
  MEANS_TURN,  /* exactly its messages */
  MEANS_PART,  /* some of its messages and nothing else */
  MEANS_ENDED, /* messages of turns that are over */
  MEANS_OTHER
};
enum meaning turns_meaning_of_names(const struct step *step);
/* For MEANS_OTHER and MEANS_ENDED: the first id that is not offered decides: FIRED, NOT_FOUND or
 * STATE. */
int turns_refuse_names(const struct step *step);
/* The same words, but always STATE: some turn is there, and these are not its messages. */
int turns_refuse_other_turn(const struct step *step);
int turns_refuse_waiting(const struct message *message, struct tidings_span id, const char *what,
                         struct tidings_error *error);
int turns_not_submitted(struct tidings_span id, struct tidings_error *error);
int turns_refuse_state(const struct step *step, const char *expected);

/* -- rules/turns/urge.c -- */
void turns_urge(struct step *step);

/* Each item may ask for a turn once more. */
static inline void turns_let_ask(struct run *run) {
  run->newest_asking = 0;
  run->asked_ms = 0;
}

/* Those for which there was no room, too. */
static inline void turns_let_all_ask(struct run *run) {
  turns_let_ask(run);
  run->unfit = 0;
}

/* Items up to this one have asked, if they were due. */
static inline void turns_note_asking(struct step *step, uint64_t item) {
  step->run->newest_asking = item;
  step->run->asked_ms = step->input->now_ms;
}

#endif
