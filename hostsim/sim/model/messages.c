/* SPDX-License-Identifier: MIT
 *
 * sim/model/messages.c: the messages that may start turns, and their order.
 */
#include "sim/model/parts.h"

#include <string.h>
#include <tidings/abi.h>

struct model_message *message_find(struct model *model, int id) {
  for (unsigned i = 0; i < model->message_count; i++)
    if (model->messages[i].id == id) return &model->messages[i];
  return NULL;
}

bool message_is_over(const struct model_message *message) {
  return message->state == MESSAGE_FIRED || message->state == MESSAGE_CANCELLED ||
         message->state == MESSAGE_CLOSED;
}

/* Lists the messages in this state, in the order of the queue; ret_messages may be NULL. */
unsigned message_waiting(const struct model *model, enum message_state state, int *ret_messages) {
  unsigned count = 0;
  for (unsigned i = 0; i < model->queue_length; i++) {
    if (model->messages[model->queue[i]].state == state) {
      if (ret_messages) ret_messages[count] = model->queue[i];
      count++;
    }
  }
  return count;
}

int message_submit(struct model *model, const struct act *act, const struct sim_settings *settings,
                   int *ret_message) {
  const struct model_message *known = message_find(model, act->id);
  unsigned alive = 0;
  if (known) {
    return known->state == MESSAGE_FIRED || known->state == MESSAGE_LEASED ? TIDINGS_E_FIRED
                                                                           : TIDINGS_E_STATE;
  }
  for (unsigned i = 0; i < model->message_count; i++)
    alive += !message_is_over(&model->messages[i]);
  if (alive >= settings->pending_limit) return TIDINGS_E_FULL;
  int64_t stamp = model->now_ms > model->last_stamp_ms ? model->now_ms : model->last_stamp_ms + 1;
  enum run_state state = model->run.state;
  bool steers = act->steer && state != IDLE && state != FAILED;
  model->last_stamp_ms = stamp;
  *ret_message = (int)model->message_count;
  model->queue[model->queue_length++] = *ret_message;
  model->messages[model->message_count++] =
      (struct model_message){.id = act->id,
                             .state = steers ? MESSAGE_STEERING : MESSAGE_QUEUED,
                             .trigger = act->trigger,
                             .text = act->serial,
                             .stamp_ms = stamp};
  return 0;
}

/* Returns 0 for a message that waits, and FIRED or NOT_FOUND for any other. The plugin's own
 * messages are not found, because nobody submitted them. */
static int check_waits(const struct model_message *message) {
  if (!message || message->system || message->state == MESSAGE_CANCELLED ||
      message->state == MESSAGE_CLOSED)
    return TIDINGS_E_NOT_FOUND;
  return message->state == MESSAGE_QUEUED || message->state == MESSAGE_STEERING ? 0
                                                                                : TIDINGS_E_FIRED;
}

int message_edit(struct model *model, const struct act *act) {
  struct model_message *message = message_find(model, act->id);
  int error = check_waits(message);
  if (error == 0 &&
      run_is_in_turn(model, act->id)) /* the host may send it again, with the old text */
    error = TIDINGS_E_FIRED;
  if (error == 0) message->text = act->serial;
  return error;
}

/* Redirects a message. Without a running turn, all waiting messages are queued. */
int message_redirect(struct model *model, const struct act *act) {
  struct model_message *message = message_find(model, act->id);
  bool turn_is_there = model->run.state != IDLE && model->run.state != FAILED;
  int error = check_waits(message);
  if (error == 0 && run_is_in_turn(model, act->id)) error = TIDINGS_E_FIRED;
  if (error != 0) return error;
  if (!act->steer) message->state = MESSAGE_QUEUED;
  else if (turn_is_there) message->state = MESSAGE_STEERING;
  message->waited = true;
  return 0;
}

static unsigned place_of(const struct model *model, int id) {
  unsigned place = 0;
  while (model->messages[model->queue[place]].id != id) place++;
  return place;
}

int message_move(struct model *model, const struct act *act) {
  int error = check_waits(message_find(model, act->id));
  if (error == 0 && act->before != 0) error = check_waits(message_find(model, act->before));
  if (error != 0 || act->before == act->id) return error;
  unsigned from = place_of(model, act->id);
  int message = model->queue[from];
  memmove(&model->queue[from], &model->queue[from + 1],
          (model->queue_length - from - 1) * sizeof model->queue[0]);
  model->queue_length--;
  unsigned to = act->before != 0 ? place_of(model, act->before) : model->queue_length;
  memmove(&model->queue[to + 1], &model->queue[to],
          (model->queue_length - to) * sizeof model->queue[0]);
  model->queue[to] = message;
  model->queue_length++;
  return 0;
}

/* Queues a message again. The plugin's own message was made for one offer and ends; the
 * notification that asked for the turn waits. */
void message_queue_again(struct model_message *message) {
  message->state = message->system ? MESSAGE_CANCELLED : MESSAGE_QUEUED;
  message->waited = true;
}

void message_fire(struct model_message *message) { message->state = MESSAGE_FIRED; }

/* Adds a message of the plugin. Its text is the number of the item that it reports. */
int message_add_system(struct model *model, const struct model_item *item) {
  model->messages[model->message_count] =
      (struct model_message){.id = SYSTEM_ID + (int)model->system_count++,
                             .state = MESSAGE_OFFERED,
                             .system = true,
                             .text = (uint32_t)(item - model->items)};
  return (int)model->message_count++;
}
