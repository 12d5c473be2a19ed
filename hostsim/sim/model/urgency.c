/* SPDX-License-Identifier: MIT
 *
 * sim/model/urgency.c: what news makes the host do at once.
 */
#include "sim/model/parts.h"

#include <tidings/abi.h>

static bool is_urgent(const struct model_item *item, const struct sim_settings *settings) {
  return settings->force && (item->level == TIDINGS_LEVEL_CRITICAL || item->activation == INTERRUPTS);
}

static bool is_asking(const struct model_item *item, const struct sim_settings *settings) {
  return !item->asked && (is_urgent(item, settings) || item->activation == ASKS_IDLE);
}

/* Criticals first, then the oldest. */
static int most_pressing(const struct model *model, const struct sim_settings *settings, const struct plan *plan) {
  int found = -1;
  for (unsigned i = 0; i < plan->shown_count; i++) {
    const struct model_item *item = &model->items[plan->shown[i]];
    if (!is_asking(item, settings)) {
      continue;
    }
    bool critical = item->level == TIDINGS_LEVEL_CRITICAL;
    bool found_critical = found >= 0 && model->items[found].level == TIDINGS_LEVEL_CRITICAL;
    if (found < 0 || critical > found_critical || (critical == found_critical && plan->shown[i] < found)) {
      found = plan->shown[i];
    }
  }
  return found;
}

static void ask_for_turn(struct model *model, const struct sim_settings *settings, const struct plan *plan) {
  int pressing = most_pressing(model, settings, plan);
  if (pressing < 0) {
    return;
  }
  if (message_waiting(model, MESSAGE_QUEUED, NULL) > 0) {
    run_offer(model, settings);
  } else if (model->run.auto_turns < settings->max_auto_turns) {
    run_offer_system(model, message_add_system(model, &model->items[pressing]));
  } else {
    return;
  }
  for (unsigned i = 0; i < plan->shown_count; i++) {
    struct model_item *item = &model->items[plan->shown[i]];
    item->asked = item->asked || is_asking(item, settings);
  }
}

static bool any_urgent(const struct model *model, const struct sim_settings *settings, const struct plan *plan) {
  for (unsigned i = 0; i < plan->shown_count; i++) {
    if (is_urgent(&model->items[plan->shown[i]], settings)) {
      return true;
    }
  }
  return false;
}

static void ask_for_abort(struct model *model, const struct sim_settings *settings, struct answer *answer) {
  struct model_run *run = &model->run;
  unsigned recent = 0;
  for (unsigned i = 0; i < run->abort_count; i++) {
    recent += model->now_ms - run->aborts[i] < settings->abort_window_ms;
  }
  if (run->aborted || settings->max_aborts == 0 || (settings->abort_window_ms > 0 && recent >= settings->max_aborts)) {
    return;
  }
  run->aborted = answer->abort_stream = true;
  run->aborts[run->abort_count++] = model->now_ms;
}

void urgency_look(struct model *model, const struct sim_settings *settings, struct answer *answer) {
  struct plan plan;
  enum run_state state = model->run.state;
  bool streams = state == BUSY && model->run.phase == PHASE_STREAMING;
  if (model->run.compacting || (state != IDLE && !streams)) {
    return;
  }
  news_plan(model, settings, false, &plan);
  if (state == IDLE) {
    ask_for_turn(model, settings, &plan);
  } else if (any_urgent(model, settings, &plan)) {
    ask_for_abort(model, settings, answer);
  }
}
