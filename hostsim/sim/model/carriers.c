/* SPDX-License-Identifier: MIT
 *
 * sim/model/carriers.c: leases what a hook delivers, and ends leases.
 */
#include "sim/model/parts.h"

#include <tidings/abi.h>

/* -- leasing ----------------------------------------------------------------------------------- */

/* Leases a message. If a request is sent again before it was settled, both deliveries have the
 * message. */
static void lease_message(struct model *model, int index, int delivery, bool steered) {
  struct model_message *message = &model->messages[index];
  model->deliveries[delivery].carries[index / 64] |= UINT64_C(1) << (index % 64);
  message->state = MESSAGE_LEASED;
  message->steered = steered;
  message->turn = model->run.serial;
}

/* Adds the turn's messages that are not in the transcript to this delivery. */
static void lease_turn(struct model *model, int delivery) {
  for (unsigned i = 0; i < model->run.turn_count; i++) {
    const struct model_message *message = &model->messages[model->run.turn[i]];
    if (message->state != MESSAGE_CANCELLED && !message->delivered)
      lease_message(model, model->run.turn[i], delivery, false);
  }
}

static void lease_items(struct model *model, const struct plan *plan, int delivery) {
  for (unsigned i = 0; i < plan->taken_count; i++) {
    struct model_item *item = &model->items[plan->taken[i].item];
    item->held = LEASED;
    item->outcome = plan->taken[i].outcome;
    item->delivery = delivery;
    model->deliveries[delivery].item_outcomes[plan->taken[i].item] = (uint8_t)(1 + item->outcome);
  }
}

static void end_removed(struct model *model, const struct plan *plan) {
  for (unsigned i = 0; i < plan->taken_count; i++) {
    struct model_item *item = &model->items[plan->taken[i].item];
    item->took_back = item->activation == SILENT && plan->taken[i].outcome == WITHDRAWN;
    items_end(model, item, plan->taken[i].outcome);
  }
}

bool model_is_bare(const struct model *model, const struct sim_settings *settings) {
  enum sim_preamble preamble = settings->preamble == SAID_CHOICES
                                   ? act_looks[settings->look].preamble
                                   : (enum sim_preamble)settings->preamble;
  return preamble == SAID_NEVER || (preamble == SAID_FIRST && model->preamble > 0);
}

/* Leases steered messages while they have room. They are never cut: the first without room waits,
 * and all after it. Returns how many bytes are left. */
static uint32_t fit_steered(const struct model *model, const struct sim_settings *settings,
                            uint32_t room, struct answer *answer) {
  unsigned fit = 0;
  for (; fit < answer->steered_count; fit++) {
    uint32_t bytes = bytes_of_steered(settings, model->messages[answer->steered[fit]].text);
    if (bytes > room) break;
    room -= bytes;
  }
  answer->steered_count = fit;
  return room;
}

void carrier_make(struct model *model, const struct act *act, const struct sim_settings *settings,
                  struct answer *answer) {
  struct plan plan;
  bool steers = act->kind == ACT_TOOL_RESULT && model->run.state == BUSY && !model->run.compacting;
  bool names = act->kind == ACT_CHAT_REQUEST && act->has_ids;
  uint32_t room = act->room > 0 ? act->room : UINT32_MAX;
  answer->steered_count = steers ? message_waiting(model, MESSAGE_STEERING, answer->steered) : 0;
  if (act->room > 0) room = fit_steered(model, settings, room, answer);
  answer->bare = model_is_bare(model, settings);
  items_plan(model, settings, settings->max_items > 0 ? settings->max_items : UINT32_MAX, room,
             &plan);
  if (act->kind == ACT_CHAT_REQUEST && act->room == ROOM_FOR_NONE && plan.end > model->run.unfit) {
    model->run.unfit = plan.end;
    model->run.asked_ms = model->now_ms;
  }
  if (plan.shown_count == 0 && answer->steered_count == 0 && !names) {
    end_removed(model, &plan);
    return;
  }
  answer->delivery = (int)model->delivery_count++;
  model->deliveries[answer->delivery] = (struct model_delivery){
      .state = DELIVERY_LEASED, .on_tool_result = act->kind == ACT_TOOL_RESULT};
  lease_items(model, &plan, answer->delivery);
  for (unsigned i = 0; i < answer->steered_count; i++)
    lease_message(model, answer->steered[i], answer->delivery, true);
  if (names) lease_turn(model, answer->delivery);
  for (unsigned i = 0; i < plan.shown_count; i++)
    answer->shown[answer->shown_count++] = plan.shown[i];
  answer->waiting = plan.waiting;
  if (plan.shown_count > 0) {
    items_ask_again(model);
    if (model->preamble == 0 && bytes_have_preamble(settings) && !answer->bare)
      model->preamble = (unsigned)answer->delivery + 1;
  }
  if (model->one_phase) {
    carrier_commit(model, answer->delivery);
    model->deliveries[answer->delivery].on_return = true;
    answer->delivery = -1;
  }
}

static bool carries(const struct model *model, unsigned delivery, unsigned message) {
  return (model->deliveries[delivery].carries[message / 64] >> (message % 64) & 1) != 0;
}

static bool is_carried(const struct model *model, unsigned message) {
  for (unsigned i = 0; i < model->delivery_count; i++)
    if (model->deliveries[i].state == DELIVERY_LEASED && carries(model, i, message)) return true;
  return false;
}

/* -- settling ---------------------------------------------------------------------------------- */

void carrier_commit(struct model *model, int delivery) {
  model->deliveries[delivery].state = DELIVERY_COMMITTED;
  for (unsigned i = 0; i < model->item_count; i++)
    if (model->items[i].held == LEASED && model->items[i].delivery == delivery)
      items_end(model, &model->items[i], model->items[i].outcome);
  /* A message is delivered if one of its deliveries is in the transcript. */
  for (unsigned i = 0; i < model->message_count; i++) {
    struct model_message *message = &model->messages[i];
    if (message->state == MESSAGE_LEASED && carries(model, (unsigned)delivery, i)) {
      message_fire(message);
      message->delivered = true;
    }
  }
}

/* Returns true if a message waits for a turn again. Call items_give_way after the last delivery. */
bool carrier_roll_back(struct model *model, int delivery) {
  bool queued = false;
  model->run.unfit = 0;
  if (model->preamble == (unsigned)delivery + 1) model->preamble = 0;
  model->deliveries[delivery].state = DELIVERY_ROLLED_BACK;
  for (unsigned i = 0; i < model->item_count; i++) {
    struct model_item *item = &model->items[i];
    if (item->held != LEASED || item->delivery != delivery) continue;
    item->held = PENDING;
    if (item->recalled) items_end(model, item, WITHDRAWN);
  }
  items_ask_again(model);
  for (unsigned i = 0; i < model->message_count; i++) {
    struct model_message *message = &model->messages[i];
    if (message->state != MESSAGE_LEASED || !carries(model, (unsigned)delivery, i) ||
        is_carried(model, i))
      continue;
    bool still_runs = run_is_running(model) && message->turn == model->run.serial;
    message_queue_again(message);
    if (message->steered && still_runs) message->state = MESSAGE_STEERING;
    queued = queued || message->state == MESSAGE_QUEUED;
  }
  return queued;
}

static int find_delivery(const struct model *model, uint64_t public_id) {
  for (unsigned i = 0; i < model->delivery_count; i++)
    if (public_id != 0 && model->deliveries[i].public_id == public_id) return (int)i;
  return -1;
}

/* Settles. Any process may settle again with the same outcome. */
int carrier_settle(struct model *model, const struct act *act, const struct sim_settings *settings,
                   bool *ret_rolled_back) {
  *ret_rolled_back = false;
  int delivery = find_delivery(model, act->delivery);
  if (delivery < 0) return TIDINGS_E_NOT_FOUND;
  enum delivery_state state = model->deliveries[delivery].state;
  if (state == (act->committed ? DELIVERY_COMMITTED : DELIVERY_ROLLED_BACK)) return 0;
  if (!model_owner_is(model, act->peer)) return TIDINGS_E_CLOSED;
  if (state == DELIVERY_ROLLED_BACK && model->deliveries[delivery].closed) return TIDINGS_E_CLOSED;
  if (state != DELIVERY_LEASED) return TIDINGS_E_STATE;
  if (act->committed) {
    carrier_commit(model, delivery);
    return 0;
  }
  *ret_rolled_back = true;
  bool queued = carrier_roll_back(model, delivery);
  items_give_way(model);
  if (queued && model->run.state == IDLE && !model->run.delayed) run_offer(model, settings);
  return 0;
}

/* -- rewinding --------------------------------------------------------------------------------- */

static bool shows(const struct model_delivery *delivery, unsigned item) {
  return delivery->item_outcomes[item] == 1 + DELIVERED;
}

static bool is_gone(const struct model_delivery *delivery) {
  return delivery->state == DELIVERY_COMMITTED && !delivery->on_return && !delivery->held;
}

/* Does the host say that an undone delivery is in the transcript again? */
static bool is_back(const struct model_delivery *delivery) {
  return delivery->held &&
         (delivery->state == DELIVERY_ROLLED_BACK || delivery->state == DELIVERY_REWOUND);
}

static bool comes_back(const struct model *model, unsigned item) {
  bool lost = false;
  if (model->items[item].held != ENDED || model->items[item].outcome != DELIVERED) return false;
  for (unsigned i = 0; i < model->delivery_count; i++) {
    const struct model_delivery *delivery = &model->deliveries[i];
    if (!shows(delivery, item)) continue;
    if (is_gone(delivery)) lost = true;
    else if (is_back(delivery) || delivery->state == DELIVERY_COMMITTED) return false;
  }
  return lost;
}

/* Counts the delivery as shown again. Items that it ended without showing them end again, if they
 * wait. */
static void end_again(struct model *model, struct model_delivery *delivery) {
  for (unsigned i = 0; i < model->item_count; i++) {
    if (delivery->item_outcomes[i] == 0) continue;
    if (model->items[i].held == PENDING)
      items_end(model, &model->items[i], (enum outcome)(delivery->item_outcomes[i] - 1));
    else if (delivery->state == DELIVERY_ROLLED_BACK && !shows(delivery, i))
      delivery->item_outcomes[i] = 0;
  }
}

unsigned carrier_rewind(struct model *model, const struct act *act) {
  bool back[MODEL_ITEMS] = {false};
  unsigned newest = 0;
  for (unsigned i = 0; i < model->delivery_count; i++) {
    struct model_delivery *delivery = &model->deliveries[i];
    delivery->held = act_names_delivery(act, delivery->public_id);
    if (model->preamble == i + 1 && !delivery->held) model->preamble = 0;
  }
  for (unsigned i = 0; i < model->item_count; i++) back[i] = comes_back(model, i);
  for (unsigned i = 0; i < model->item_count; i++) {
    if (!back[i]) continue;
    newest = i + 1;
    model->items[i].held = PENDING;
    model->items[i].recalled = false;
    model->outcomes[DELIVERED]--;
    if (items_is_expired(model, &model->items[i])) items_end(model, &model->items[i], EXPIRED);
  }
  for (unsigned i = 0; i < model->delivery_count; i++) {
    struct model_delivery *delivery = &model->deliveries[i];
    bool gone = is_gone(delivery), returns = is_back(delivery);
    if (returns) end_again(model, delivery);
    if (gone || returns) delivery->state = gone ? DELIVERY_REWOUND : DELIVERY_COMMITTED;
    delivery->held = false;
  }
  items_give_way(model);
  return newest;
}
