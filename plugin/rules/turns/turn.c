/* SPDX-License-Identifier: MIT
 *
 * rules/turns/turn.c: how a turn starts and ends, and what its carriers do to its messages.
 */
#include "rules/turns/internal.h"

void turns_start_turn(struct step *step, enum turn_kind kind) {
  struct run *run = step->run;
  turns_end_settling(run);
  run->state = RUN_BUSY;
  run->phase = PHASE_UNKNOWN;
  run->kind = (uint8_t)kind;
  run->offer_known = false;
  run->aborted = false;
  run->attempt = 0;
  run->words = span_of(NULL, 0);
  run->started_ms = step->input->now_ms - step->input->ahead_ms;
  run->orphaned = 0;
  run->calls_orphaned = false;
  for (size_t i = 0; i < step->turns->count; i++) {
    struct message *message = &step->turns->messages[i];
    if (message->orphaned) message->changed = true;
    message->orphaned = false;
  }
}

void turns_start_offer(struct step *step, bool all) {
  enum turn_kind kind = step->run->kind;
  for (size_t i = 0; i < step->turns->count; i++) {
    struct message *message = &step->turns->messages[i];
    if (message->state != MESSAGE_OFFERED) continue;
    if (all || message->named) {
      set_state(message, MESSAGE_FIRED);
    } else {
      turns_requeue(message);
      message->of_turn = false;
    }
  }
  turns_start_turn(step, kind);
  step->run->auto_turns = kind == TURN_OF_SYSTEM ? step->run->auto_turns + 1 : 0;
}

void turns_withdraw_offer(struct step *step) {
  for (size_t i = 0; i < step->turns->count; i++) {
    struct message *message = &step->turns->messages[i];
    if (message->state != MESSAGE_OFFERED) continue;
    turns_requeue(message);
    message->of_turn = false;
  }
  step->run->offer_known = false;
  step->run->kind = TURN_OF_HOST;
}

void turns_end_turn(struct step *step) {
  struct run *run = step->run;
  for (size_t i = 0; i < step->turns->count; i++) {
    struct message *message = &step->turns->messages[i];
    if (message->of_turn || message->steer) message->changed = true;
    if (message->state == MESSAGE_STEERING) turns_requeue(message);
    message->of_turn = false;
    message->steer = false;
  }
  run->phase = PHASE_UNKNOWN;
  run->kind = TURN_OF_HOST;
  run->stop = STOP_NONE;
  run->offer_known = false;
  run->aborted = false;
  run->attempt = 0;
  run->words = span_of(NULL, 0);
  run->started_ms = 0;
}

void turns_ask_again(struct run *run, struct turns_result asked) {
  if (asked.offer && run->state == RUN_STARTING) run->offer_known = false;
  if (asked.stop && run->stop == STOP_GIVEN) run->stop = STOP_ASKED;
  if (asked.abort) run->aborted = false;
}
