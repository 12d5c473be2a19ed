/* SPDX-License-Identifier: MIT
 *
 * sim/model/urgency.c: decides what a notification makes the host do at once.
 */
#include "sim/model/parts.h"

#include <stdlib.h>
#include <string.h>
#include <tidings/abi.h>

static bool is_urgent(const struct model_item *item, const struct sim_settings *settings) {
  return settings->force &&
         (item->level == TIDINGS_LEVEL_CRITICAL || item->activation == INTERRUPTS);
}

static bool wants_turn(const struct model_item *item, const struct sim_settings *settings) {
  return is_urgent(item, settings) || item->activation == ASKS_IDLE;
}

static bool urgency_goes_before(const struct model *model, int a, int b) {
  bool critical_a = model->items[a].level == TIDINGS_LEVEL_CRITICAL,
       critical_b = model->items[b].level == TIDINGS_LEVEL_CRITICAL;
  return critical_a != critical_b ? critical_a : a < b;
}

/* Did the item have no room in a chat request when it was due? */
static bool had_no_room(const struct model *model, int item) {
  return item < model->run.unfit && model->items[item].due_ms <= model->run.asked_ms;
}

/* Offers a turn if an item has not asked for one; it asks for all earlier items too, and the most
 * urgent of them names the turn. */
static void ask_for_turn(struct model *model, const struct sim_settings *settings,
                         const struct plan *plan) {
  int pressing = -1, newest = -1;
  bool asks = false;
  for (unsigned i = 0; i < plan->shown_count; i++) {
    const struct model_item *item = &model->items[plan->shown[i]];
    if (!had_no_room(model, plan->shown[i]) && wants_turn(item, settings)) {
      asks = asks || !item->has_asked || item->due_ms > model->run.asked_ms;
      newest = plan->shown[i] > newest ? plan->shown[i] : newest;
      pressing = pressing < 0 || urgency_goes_before(model, plan->shown[i], pressing)
                     ? plan->shown[i]
                     : pressing;
    }
  }
  if (!asks) return;
  if (message_waiting(model, MESSAGE_QUEUED, NULL) > 0) {
    run_offer(model, settings); /* if the messages are cancelled, the items ask again */
    return;
  }
  if (model->run.auto_turns >= settings->max_auto_turns) return;
  run_offer_system(model, message_add_system(model, &model->items[pressing]));
  for (int i = 0; i <= newest; i++) model->items[i].has_asked = true;
  if (newest >= (int)model->run.asked_count) model->run.asked_count = (unsigned)newest + 1;
  model->run.asked_ms = model->now_ms;
}

static bool any_urgent(const struct model *model, const struct sim_settings *settings,
                       const struct plan *plan) {
  for (unsigned i = 0; i < plan->shown_count; i++)
    if (!had_no_room(model, plan->shown[i]) && is_urgent(&model->items[plan->shown[i]], settings))
      return true;
  return false;
}

/* Counts the recent aborts. If the clock was set back, an abort may be far in the future; it counts
 * as old, and like all old ones the next abort removes it from the list. */
static unsigned recent_aborts(const struct model *model, const struct sim_settings *settings,
                              int64_t *ret_aborts) {
  const struct model_run *run = &model->run;
  unsigned recent = 0;
  for (unsigned i = 0; i < run->abort_count; i++)
    if (llabs(model->now_ms - run->aborts[i]) < settings->abort_window_ms)
      ret_aborts[recent++] = run->aborts[i];
  return recent;
}

static void ask_for_abort(struct model *model, const struct sim_settings *settings,
                          struct answer *answer) {
  int64_t aborts[MODEL_ABORTS];
  struct model_run *run = &model->run;
  unsigned recent = recent_aborts(model, settings, aborts);
  if (run->aborted || run->stop != STOP_NONE || settings->max_aborts == 0 ||
      recent >= settings->max_aborts)
    return;
  run->aborted = answer->abort_stream = true;
  aborts[recent++] = model->now_ms;
  memcpy(run->aborts, aborts, recent * sizeof aborts[0]);
  run->abort_count = recent;
}

void urgency_look(struct model *model, const struct sim_settings *settings, struct answer *answer) {
  struct plan plan;
  enum run_state state = model->run.state;
  bool streams = state == BUSY && model->run.phase == PHASE_STREAMING;
  if (model->run.compacting || (state != IDLE && !streams)) return;
  items_plan(model, settings, UINT32_MAX, UINT32_MAX, &plan);
  if (state == IDLE) ask_for_turn(model, settings, &plan);
  else if (any_urgent(model, settings, &plan)) ask_for_abort(model, settings, answer);
}
