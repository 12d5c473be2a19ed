/* SPDX-License-Identifier: MIT
 *
 * rules/turns/queue.c: the queue of messages: which messages are in it, in which order, which one
 * is offered next; submit, cancel, edit, move and redirect.
 */
#include <string.h>

#include "rules/turns/internal.h"

enum { PLACE_GAP = 1 << 20 }; /* leaves room for moves in between */

void turns_requeue(struct message *message) {
  set_state(message, MESSAGE_QUEUED);
  message->delivery = 0;
  message->carriers = 0;
  message->waited = true;
}

static bool can_be_offered(const struct step *step, const struct message *message) {
  return message->state == MESSAGE_QUEUED && message->due_ms <= step->input->now_ms;
}

bool turns_anything_queued(const struct step *step) {
  for (size_t i = 0; i < step->turns->count; i++) {
    if (step->turns->messages[i].state == MESSAGE_QUEUED) return true;
  }
  return false;
}

bool turns_anything_due(const struct step *step) {
  for (size_t i = 0; i < step->turns->count; i++) {
    if (can_be_offered(step, &step->turns->messages[i])) return true;
  }
  return false;
}

/* -- offers ------------------------------------------------------------------------------------ */

void turns_end_settling(struct run *run) {
  run->settling = false;
  run->settle_since_ms = 0;
  run->settle_last = 0;
}

static void begin_offer(struct step *step, enum turn_kind kind) {
  struct run *run = step->run;
  turns_end_settling(run);
  run->state = RUN_STARTING;
  run->kind = (uint8_t)kind;
  run->phase = PHASE_UNKNOWN;
  run->offer_known = false;
  run->attempt = 0;
  run->words = span_of(NULL, 0);
}

/* Offers the queued messages with numbers up to `last`, all or only the first, and returns how
 * many. */
static size_t offer_up_to(struct step *step, uint64_t last) {
  bool coalescing = step->input->settings->discipline == DISCIPLINE_COALESCING;
  size_t count = 0;
  for (size_t i = 0; i < step->turns->count && (coalescing || !count); i++) {
    struct message *message = &step->turns->messages[i];
    if (!can_be_offered(step, message) || (coalescing && message->n > last)) continue;
    set_state(message, MESSAGE_OFFERED);
    message->due_ms = 0;
    message->of_turn = true;
    count++;
  }
  return count;
}

void turns_offer_batch(struct step *step) {
  struct run *run = step->run;
  if (!step->input->owned || run->compacting) return;
  size_t count = run->settling ? offer_up_to(step, run->settle_last) : 0;
  if (!count) count = offer_up_to(step, UINT64_MAX);
  if (count) begin_offer(step, TURN_OF_MESSAGES);
  else turns_end_settling(run);
}

void turns_offer_system_turn(struct step *step) {
  begin_offer(step, TURN_OF_SYSTEM);
  step->run->system_turns++;
  step->run->system_item = step->input->urgency.most;
}

void turns_drain(struct step *step) {
  struct run *run = step->run;
  if (!step->input->settings->settle_delay_ms || !turns_anything_queued(step)) {
    turns_offer_batch(step);
    return;
  }
  run->settling = true;
  run->settle_since_ms = step->input->now_ms;
  run->settle_last = run->last_message;
}

/* -- submit ------------------------------------------------------------------------------------ */

int turns_queue_submit(struct step *step) {
  const struct turns_input *input = step->input;
  struct run *run = step->run;
  struct message *message = &step->turns->messages[step->turns->count++];
  run->last_stamp_ms = input->now_ms > run->last_stamp_ms ? input->now_ms : run->last_stamp_ms + 1;
  run->last_place += PLACE_GAP;
  *message = (struct message){.n = ++run->last_message,
                              .place = run->last_place,
                              .stamp_ms = run->last_stamp_ms,
                              .due_ms = input->due_ms,
                              .id = input->id};
  message->steer = input->steer && !input->due_ms && run_has_turn(run);
  set_state(message, message->steer ? MESSAGE_STEERING : MESSAGE_QUEUED);
  if (run->state == RUN_ERROR && input->resume &&
      input->owned) { /* also while compacting: then .compacted offers */
    run->state = RUN_IDLE;
    run->words = span_of(NULL, 0);
  }
  if (run->state == RUN_IDLE && !run->settling) turns_offer_batch(step);
  message->fresh = true;
  return 0;
}

/* -- cancel, edit, move, redirect -------------------------------------------------------------- */

static struct message *named_message(const struct step *step) {
  ptrdiff_t index = step->input->named[0];
  return index == NOT_A_MESSAGE ? NULL : &step->turns->messages[index];
}

int turns_queue_cancel(struct step *step) {
  struct message *message = named_message(step);
  if (!message) return turns_not_submitted(step->input->ids[0], step->error);
  bool offered = message->state == MESSAGE_OFFERED;
  if (!offered && message->state != MESSAGE_QUEUED && message->state != MESSAGE_STEERING)
    return turns_refuse_waiting(message, step->input->ids[0], "cancelled", step->error);
  set_state(message, MESSAGE_CANCELLED);
  if (offered) message->of_turn = false; /* a running turn keeps the ids it began with */
  for (size_t i = 0; offered && i < step->turns->count; i++) {
    if (step->turns->messages[i].state == MESSAGE_OFFERED) offered = false;
  }
  if (offered) { /* it was the last of its offer */
    turns_end_turn(step);
    step->run->state = RUN_IDLE;
    turns_offer_batch(step);
  }
  return 0;
}

static int find_waiting(const struct step *step, struct tidings_span id, ptrdiff_t index,
                        const char *what, struct message **ret_message) {
  if (index == NOT_A_MESSAGE) return turns_not_submitted(id, step->error);
  struct message *message = &step->turns->messages[index];
  if (message->state != MESSAGE_QUEUED && message->state != MESSAGE_STEERING)
    return turns_refuse_waiting(message, id, what, step->error);
  *ret_message = message;
  return 0;
}

/* Refuses to change a message whose carrier failed: the host has its old words and may send them
 * again. */
static int refuse_of_turn(const struct step *step, const struct message *message,
                          const char *what) {
  return fail(step->error, TIDINGS_E_FIRED,
              "message %s belongs to the running turn; it cannot be %s before the turn has ended",
              quote(message->id).text, what);
}

int turns_queue_edit(struct step *step) {
  struct message *message = NULL;
  int code = find_waiting(step, step->input->ids[0], step->input->named[0], "edited", &message);
  if (!message) return code;
  if (message->of_turn) return refuse_of_turn(step, message, "edited");
  message->changed = true;
  return 0;
}

/* Gives everything that waits a new place, in the same order. */
static void spread_places(struct step *step) {
  for (size_t i = 0; i < step->turns->count; i++) {
    struct message *message = &step->turns->messages[i];
    step->run->last_place += PLACE_GAP;
    message->place = step->run->last_place;
    message->changed = true;
  }
}

/* Takes the message at `from` out of the array and puts it in again before what is at `to` now. */
static size_t reorder(struct turns *turns, size_t from, size_t to) {
  struct message moved = turns->messages[from];
  struct message *messages = turns->messages;
  if (from < to) memmove(&messages[from], &messages[from + 1], (--to - from) * sizeof *messages);
  else memmove(&messages[to + 1], &messages[to], (from - to) * sizeof *messages);
  messages[to] = moved;
  return to;
}

int turns_queue_move(struct step *step) {
  const struct turns_input *input = step->input;
  struct turns *turns = step->turns;
  struct message *message, *before;
  int code = find_waiting(step, input->ids[0], input->named[0], "moved", &message);
  if (!code && !input->to_end)
    code = find_waiting(step, input->before_id, input->before, "moved before", &before);
  if (code) return code;
  size_t from = (size_t)input->named[0], to = input->to_end ? turns->count : (size_t)input->before;
  if (!input->to_end && from == to) return 0;
  size_t at = reorder(turns, from, to);
  message = &turns->messages[at];
  message->changed = true;
  if (at + 1 == turns->count) {
    step->run->last_place += PLACE_GAP;
    message->place = step->run->last_place;
    return 0;
  }
  uint64_t low = at ? turns->messages[at - 1].place : 0, high = turns->messages[at + 1].place;
  if (high - low > 1) message->place = low + (high - low) / 2;
  else spread_places(step);
  return 0;
}

/* Moves a message between the queue and the running turn; without a turn all that waits is queued.
 */
int turns_queue_redirect(struct step *step) {
  const struct turns_input *input = step->input;
  struct message *message = NULL;
  int code = find_waiting(step, input->ids[0], input->named[0], "redirected", &message);
  if (!message) return code;
  if (message->of_turn) return refuse_of_turn(step, message, "redirected");
  if (input->steer && message->state == MESSAGE_QUEUED && run_has_turn(step->run)) {
    message->steer = true;
    message->due_ms = 0;
    set_state(message, MESSAGE_STEERING);
  } else if (!input->steer && message->state == MESSAGE_STEERING) {
    turns_requeue(message);
    message->steer = false;
  }
  return 0;
}
