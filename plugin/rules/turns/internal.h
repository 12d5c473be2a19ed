/* SPDX-License-Identifier: MIT
 *
 * rules/turns/internal.h: declarations that the files of the machine share. Private to turns/.
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

/* Puts the message back into the queue, in its old place; from now on it has a queued_at. */
void turns_requeue(struct message *message);
/* Is any message queued, even if it is for later? */
bool turns_anything_queued(const struct step *step);
/* Is any message queued, and due? */
bool turns_anything_due(const struct step *step);
/* Offers the next batch, if there is one and offers are allowed. */
void turns_offer_batch(struct step *step);
void turns_offer_system_turn(struct step *step);
/* To be called when the end of a turn has made the state idle: makes an offer, or waits for the
 * settle delay. */
void turns_drain(struct step *step);
void turns_end_settling(struct run *run);
int turns_queue_submit(struct step *step);
int turns_queue_cancel(struct step *step);
int turns_queue_edit(struct step *step);
int turns_queue_move(struct step *step);
int turns_queue_redirect(struct step *step);

/* -- turn.c: how a turn starts and ends -- */

void turns_start_turn(struct step *step, enum turn_kind kind);
/* Starts the offered turn with those of its messages that are named, or with `all`; the other ones
 * are queued again. */
void turns_start_offer(struct step *step, bool all);
/* Takes the offer back; its messages are queued again. The caller sets the state. */
void turns_withdraw_offer(struct step *step);
/* Ends the turn: no message belongs to it any more, and none can be steered into it. The caller
 * sets the state. */
void turns_end_turn(struct step *step);

/* -- names.c: do the ids given mean the turn that is offered or runs? -- */

enum meaning {
  MEANS_TURN,  /* exactly its messages */
  MEANS_PART,  /* some of its messages and nothing else */
  MEANS_ENDED, /* messages of turns that are over */
  MEANS_OTHER
};
enum meaning turns_meaning_of_names(const struct step *step);
/* For MEANS_OTHER and MEANS_ENDED: returns FIRED, NOT_FOUND or STATE, by the first id that is not
 * offered. */
int turns_refuse_names(const struct step *step);
/* The same sentence, but always STATE: there is a turn, and these are not its messages. */
int turns_refuse_other_turn(const struct step *step);
int turns_refuse_waiting(const struct message *message, struct tidings_span id, const char *what,
                         struct tidings_error *error);
int turns_not_submitted(struct tidings_span id, struct tidings_error *error);
int turns_refuse_state(const struct step *step, const char *expected);

/* -- rules/turns/urge.c -- */
void turns_urge(struct step *step);

/* From now on each item may ask for a turn once more, except those for which there was no room. */
static inline void turns_let_ask(struct run *run) {
  run->newest_asking = 0;
  if (!run->unfit) run->asked_ms = 0;
}

/* The same, also for items for which there was no room. */
static inline void turns_let_all_ask(struct run *run) {
  run->unfit = 0;
  turns_let_ask(run);
}

/* Items up to this one have asked, if they were due. */
static inline void turns_note_asking(struct step *step, uint64_t item) {
  step->run->newest_asking = item;
  step->run->asked_ms = step->input->now_ms;
}

#endif
