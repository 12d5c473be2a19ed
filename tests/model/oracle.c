/* SPDX-License-Identifier: MIT
 *
 * tests/model/oracle.c: turns a view into a model, lets the model do the act, and turns the model
 * into a view. It uses the model and nothing of the plugin.
 */
#include "oracle.h"

#include <string.h>
#include <tidings/abi.h>

#include "sim/model/parts.h"

enum { SERIAL = 5 }; /* of the turn that runs: any, but not 0 */

/* -- a view becomes a model: its messages first, then the plugin's own ------------------------- */

static void add_messages(struct model *model, const struct view *view) {
  for (unsigned i = 0; i < view->submitted; i++) {
    const struct view_message *message = &view->messages[i];
    model->messages[i] = (struct model_message){.id = (int)i + 1,
                                                .state = (enum message_state)(message->state - 1),
                                                .waited = message->waited != 0,
                                                .steered = message->steered != 0,
                                                .delivered = message->delivered != 0,
                                                .stamp_ms = message->stamp_ms,
                                                .turn = message->steered ? SERIAL : SERIAL - 1};
    model->queue[model->queue_length++] = (int)view->order[i];
  }
  for (unsigned i = 0; i < view->run.system_turns; i++)
    model->messages[view->submitted + i] =
        (struct model_message){.id = SYSTEM_ID + (int)i, .system = true, .state = MESSAGE_FIRED};
  model->system_count = (unsigned)view->run.system_turns;
  model->message_count = (unsigned)(view->submitted + view->run.system_turns);
}

/* Lists the messages of a mask in the queue's order; the plugin's own turn is the newest. */
static unsigned spread_mask(const struct model *model, int64_t mask, int *ret_messages) {
  unsigned count = 0;
  for (unsigned i = 0; i < model->queue_length; i++)
    if (mask >> model->queue[i] & 1) ret_messages[count++] = model->queue[i];
  if (mask & VIEW_SYSTEM) ret_messages[count++] = (int)model->message_count - 1;
  return count;
}

static void set_run(struct model *model, const struct view_run *view) {
  struct model_run *run = &model->run;
  run->state = (enum run_state)view->state;
  run->phase = (enum phase)view->phase;
  run->serial = SERIAL;
  run->started_ms = view->started_ms;
  run->turn_count = spread_mask(model, view->turn, run->turn);
  run->orphaned_count = spread_mask(model, view->orphaned, run->orphaned);
  if (run->state == STARTING && view->turn & VIEW_SYSTEM)
    model->messages[model->message_count - 1].state = MESSAGE_OFFERED;
  run->offer_known = view->offer_known != 0;
  run->aborted = view->aborted != 0;
  run->stop = (enum stop)view->stop;
  run->compacting = view->compacting != 0;
  run->delayed = view->settling != 0;
  run->delay_begin_ms = view->settle_since_ms;
  run->batch_end = (unsigned)view->settle_last;
  run->auto_turns = (unsigned)view->auto_turns;
  run->abort_count = (unsigned)view->abort_count;
  memcpy(run->aborts, view->aborts_ms, run->abort_count * sizeof run->aborts[0]);
}

static void add_carriers(struct model *model, const struct view *view) {
  for (unsigned i = 0; i < VIEW_CARRIERS && view->carriers[i].out; i++) {
    model->deliveries[model->delivery_count++] =
        (struct model_delivery){.public_id = i + 1,
                                .state = DELIVERY_LEASED,
                                .carries = {(uint64_t)view->carriers[i].messages}};
    if (view->carriers[i].item) model->items[0].delivery = (int)i;
  }
}

static void add_item(struct model *model, const struct view *view, const struct view_setup *setup) {
  if (view->item == VIEW_ITEM_NONE) return;
  model->items[0] =
      (struct model_item){.level = setup->item_urgent ? TIDINGS_LEVEL_CRITICAL : TIDINGS_LEVEL_INFO,
                          .activation = setup->item_asks ? ASKS_IDLE : PASSIVE,
                          .has_asked = view->has_asked != 0,
                          .held = view->item == VIEW_ITEM_PENDING ? PENDING : LEASED,
                          .outcome = DELIVERED};
  model->item_count = 1;
}

static void from_view(const struct view *view, const struct view_setup *setup,
                      struct model *model) {
  model_init(model, &setup->settings, setup->one_phase, view->now_ms);
  model->last_stamp_ms = view->last_stamp_ms;
  model->owned = view->known != 0;
  model->peers[PEER_HOST].process = view->known && !view->alive;
  add_messages(model, view);
  set_run(model, &view->run);
  add_item(model, view, setup);
  add_carriers(model, view);
}

/* -- and back ---------------------------------------------------------------------------------- */

static int number_of(const struct model *model, int index) { return model->messages[index].id - 1; }

static int64_t mask_of(const struct model *model, const int *messages, unsigned count) {
  int64_t mask = 0;
  for (unsigned i = 0; i < count; i++)
    mask |= model->messages[messages[i]].system ? VIEW_SYSTEM : 1 << number_of(model, messages[i]);
  return mask;
}

static void view_run(const struct model *model, struct view_run *view) {
  const struct model_run *run = &model->run;
  *view = (struct view_run){.state = run->state,
                            .phase = run->state == BUSY ? (int64_t)run->phase : 0,
                            .turn = mask_of(model, run->turn, run->turn_count),
                            .orphaned = mask_of(model, run->orphaned, run->orphaned_count),
                            .started_ms = run->started_ms,
                            .offer_known = run->state == STARTING && run->offer_known,
                            .aborted = run_is_running(model) && run->aborted,
                            .stop = run->stop,
                            .compacting = run->compacting,
                            .settling = run->delayed,
                            .settle_since_ms = run->delayed ? run->delay_begin_ms : 0,
                            .system_turns = model->system_count,
                            .auto_turns = run->auto_turns,
                            .abort_count = run->abort_count};
  for (unsigned i = 0; run->delayed && i < run->batch_end; i++)
    view->settle_last += !model->messages[i].system;
  memcpy(view->aborts_ms, run->aborts, run->abort_count * sizeof run->aborts[0]);
}

static void view_messages(const struct model *model, struct view *view) {
  for (unsigned i = 0; i < model->message_count; i++) {
    const struct model_message *message = &model->messages[i];
    if (message->system) continue;
    view->submitted++;
    view->messages[message->id - 1] = (struct view_message){
        .state = message->state + 1,
        .waited = message->waited,
        .stamp_ms = message->stamp_ms,
        .steered = message->state == MESSAGE_LEASED && message->steered && run_is_running(model) &&
                   message->turn == model->run.serial,
        .delivered = message->state == MESSAGE_FIRED && message->delivered};
  }
  for (unsigned i = 0; i < model->queue_length; i++)
    view->order[i] = number_of(model, model->queue[i]);
}

static void view_carriers(const struct model *model, struct view *view) {
  const struct model_item *item = &model->items[0];
  bool held = model->item_count && item->held != ENDED;
  for (unsigned i = 0; i < model->delivery_count; i++) {
    if (model->deliveries[i].state != DELIVERY_LEASED) continue;
    view->carriers[i].out = true;
    view->carriers[i].item = held && item->held == LEASED && item->delivery == (int)i;
    for (unsigned n = 0; n < model->message_count; n++)
      if (model->deliveries[i].carries[0] >> n & 1 && !model->messages[n].system)
        view->carriers[i].messages |= 1 << number_of(model, (int)n);
  }
  view->item = !held                   ? VIEW_ITEM_NONE
               : item->held == PENDING ? VIEW_ITEM_PENDING
                                       : VIEW_ITEM_LEASED;
  view->has_asked = view->item == VIEW_ITEM_PENDING && item->has_asked;
}

/* -- a move ------------------------------------------------------------------------------------ */

void oracle_play(const struct view *before, const struct view_setup *setup, const struct act *act,
                 struct view *ret_after, struct view_answer *ret_answer) {
  static struct model model;
  struct answer answer = {.error = 0};
  from_view(before, setup, &model);
  if (act_is_hook(act->kind) && !before->alive) (void)model_apply_first(&model, act);
  else model_apply(&model, act, &answer);
  memset(ret_after, 0, sizeof *ret_after);
  view_run(&model, &ret_after->run);
  view_messages(&model, ret_after);
  view_carriers(&model, ret_after);
  ret_after->now_ms = model.now_ms;
  ret_after->last_stamp_ms = model.last_stamp_ms;
  ret_after->known = model.owned;
  ret_after->alive = model_owner_lives(&model);
  *ret_answer = (struct view_answer){.error = answer.error,
                                     .offer = answer.offered_count > 0,
                                     .abort = answer.abort_stream,
                                     .stop = answer.stop_turn};
}
