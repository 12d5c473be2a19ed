/* SPDX-License-Identifier: MIT
 *
 * rules/turns/carriers.c: what happens to messages on carriers, and to a run whose host is dead.
 */
#include "rules/turns/carriers.h"

static bool turn_runs(const struct run *run) {
  return run->state == RUN_BUSY || run->state == RUN_RETRYING || run->state == RUN_WAITING;
}

static void put_on_carrier(struct message *message, const struct turns_input *input) {
  message->delivery = input->delivery;
  message->carriers++;
  message->due_ms = 0; /* it may have been over */
  set_state(message, input->fires_at_once ? MESSAGE_FIRED : MESSAGE_LEASED);
}

void turns_lease_turn(struct step *step) {
  for (size_t i = 0; i < step->turns->count; i++) {
    struct message *message = &step->turns->messages[i];
    bool fired_only = message->state == MESSAGE_FIRED &&
                      !message->delivery; /* by turn.started: no carrier had it yet */
    bool in_doubt =
        fired_only || message->state == MESSAGE_QUEUED || message->state == MESSAGE_LEASED;
    if (message->of_turn && in_doubt) put_on_carrier(message, step->input);
  }
}

void turns_lease_steering(struct step *step) {
  size_t most = step->input->steered_most;
  if (step->run->compacting || !turn_runs(step->run)) return;
  for (size_t i = 0; most && i < step->turns->count; i++) {
    struct message *message = &step->turns->messages[i];
    if (message->state != MESSAGE_STEERING) continue;
    put_on_carrier(message, step->input);
    most--;
  }
}

/* Names the messages on the delivery by its row or, if that is lost, by their own rows. */
static void name_carried(struct step *step) {
  struct turns *turns = step->turns;
  for (size_t i = 0; i < turns->count; i++)
    turns->messages[i].named = turns->messages[i].delivery == step->input->delivery;
  for (size_t i = 0; i < step->input->named_count; i++)
    turns->messages[step->input->named[i]].named = true;
}

/* It is enough that the transcript has one carrier, whatever happens to the others. */
int turns_carrier_committed(struct step *step) {
  name_carried(step);
  for (size_t i = 0; i < step->turns->count; i++) {
    struct message *message = &step->turns->messages[i];
    if (!message->named || message->state != MESSAGE_LEASED) continue;
    message->delivery = step->input->delivery;
    set_state(message, MESSAGE_FIRED);
  }
  return 0;
}

/* A message comes back when the last of its carriers is rolled back. */
int turns_carrier_rolled_back(struct step *step) {
  struct run *run = step->run;
  bool any = false;
  turns_let_all_ask(run);
  name_carried(step);
  for (size_t i = 0; i < step->turns->count; i++) {
    struct message *message = &step->turns->messages[i];
    if (!message->named || message->state != MESSAGE_LEASED) continue;
    message->changed = true;
    if (--message->carriers) continue;
    turns_requeue(message);
    if (message->steer && turn_runs(run)) set_state(message, MESSAGE_STEERING);
    any = true;
  }
  if (any && run->state == RUN_IDLE && !run->settling) turns_offer_batch(step);
  return 0;
}

int turns_run_recovered(struct step *step) {
  struct run *run = step->run;
  bool ran = turn_runs(run), held = false;
  if (ran) run->orphaned = run->kind == TURN_OF_SYSTEM ? run->system_turns : 0;
  for (size_t i = 0; i < step->turns->count; i++) {
    struct message *message = &step->turns->messages[i];
    bool orphaned = ran && message->of_turn && message->state == MESSAGE_FIRED;
    if (ran && message->orphaned != orphaned) {
      message->orphaned = orphaned;
      message->changed = true;
    }
    bool lost_carrier =
        message->state == MESSAGE_LEASED; /* all stored carriers are settled by now */
    if (message->state == MESSAGE_OFFERED || lost_carrier) turns_requeue(message);
  }
  turns_end_turn(step);
  turns_end_settling(run);
  run->compacting = false;
  turns_let_all_ask(run);
  if (step->input->settings->restart_hold) held = ran || turns_anything_queued(step);
  run->state = held ? RUN_ERROR : RUN_IDLE;
  return 0;
}

int turns_run_closed(struct step *step) {
  struct run *run = step->run;
  for (size_t i = 0; i < step->turns->count; i++) {
    struct message *message = &step->turns->messages[i];
    if (message->of_turn || message->orphaned) message->changed = true;
    if (!message_is_over(message->state)) set_state(message, MESSAGE_CLOSED);
    message->of_turn = message->orphaned = message->steer = false;
  }
  *run = (struct run){.system_turns = run->system_turns,
                      .last_message = run->last_message,
                      .first_message = run->first_message,
                      .last_place = run->last_place,
                      .last_stamp_ms = run->last_stamp_ms};
  return 0;
}
