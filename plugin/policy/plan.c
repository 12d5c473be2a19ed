/* SPDX-License-Identifier: MIT
 *
 * policy/plan.c: the order of the steps, and the fates at the end.
 */
#include "policy/plan.h"

#include "policy/steps.h"

static int begin(struct work *work) {
  work->fates = arena_zalloc(work->arena, work->item_count, sizeof *work->fates);
  work->places = arena_zalloc(work->arena, work->item_count, sizeof *work->places);
  if (!work->fates || !work->places) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    work->fates[i].n = work->items[i].n;
    work->places[i] = work->items[i].n;
  }
  return 0;
}

/* What is shown is delivered; what no step ended and no line shows stays pending. */
static size_t finish_fates(struct work *work) {
  for (size_t i = 0; i < work->line_count; i++) {
    end_item(work, (size_t)(work->lines[i].item - work->items), OUTCOME_DELIVERED, REASON_SHOWN, 0);
  }
  size_t count = 0;
  for (size_t i = 0; i < work->item_count; i++) {
    if (!is_left(work, i)) work->fates[count++] = work->fates[i];
  }
  return count;
}

int plan_delivery(const struct item *items, size_t item_count, const struct settings *settings, int64_t now_ms, struct arena *arena,
                  struct plan *ret_plan) {
  struct work work = {.items = items, .item_count = item_count, .settings = settings, .now_ms = now_ms, .arena = arena};
  if (begin(&work)) return -1;
  step_expire(&work);
  step_withdraw(&work);
  if (step_supersede(&work)) return -1;
  step_filter(&work);
  if (step_rank(&work) || step_cap(&work)) return -1;
  size_t fate_count = finish_fates(&work);
  *ret_plan = (struct plan){
      .lines = work.lines, .line_count = work.line_count, .fates = work.fates, .fate_count = fate_count, .deferred = work.deferred};
  return 0;
}
