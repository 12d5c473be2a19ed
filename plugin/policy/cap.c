/* SPDX-License-Identifier: MIT
 *
 * policy/cap.c: at most max_items lines. What is over waits, or is dropped with a reason.
 *
 * Waiting (defer) is fair: every source has its turn, so that a chatty one cannot keep the others out; only what is critical goes before
 * that, because it may have started the very turn that carries it. Dropping is not about turns: the oldest go, or the least important.
 */
#include <stdlib.h>

#include "policy/steps.h"

struct candidate {
  size_t line;  /* its rank */
  size_t round; /* how many of its source go before it */
  uint64_t n;
  uint8_t level;
};

static bool is_critical(const struct candidate *candidate) { return candidate->level == TIDINGS_LEVEL_CRITICAL; }

static int by_turn(const void *left, const void *right) {
  const struct candidate *a = left, *b = right;
  if (is_critical(a) != is_critical(b)) return is_critical(a) ? -1 : 1;
  if (a->round != b->round) return a->round < b->round ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

static int by_newest(const void *left, const void *right) {
  const struct candidate *a = left, *b = right;
  return a->n > b->n ? -1 : a->n < b->n;
}

static int by_importance(const void *left, const void *right) {
  const struct candidate *a = left, *b = right;
  if (a->level != b->level) return a->level > b->level ? -1 : 1;
  return by_newest(left, right);
}

/* A source's criticals take its first rounds. */
static int deal_rounds(const struct work *work, struct candidate *candidates) {
  struct tidings_span *sources = arena_zalloc(work->arena, work->line_count, sizeof *sources);
  size_t *leaders = arena_zalloc(work->arena, work->line_count, sizeof *leaders);
  size_t *taken = arena_zalloc(work->arena, work->line_count, sizeof *taken);
  if (!sources || !leaders || !taken) return -1;
  for (size_t i = 0; i < work->line_count; i++) sources[i] = work->lines[i].item->note.source;
  if (group_equal(sources, work->line_count, work->arena, leaders)) return -1;
  for (int critical = 1; critical >= 0; critical--) {
    for (size_t i = 0; i < work->line_count; i++) {
      if (is_critical(&candidates[i]) == (critical == 1)) candidates[i].round = taken[leaders[i]]++;
    }
  }
  return 0;
}

/* Takes the lines that are not kept out, the rest closing up in order. */
static void keep(struct work *work, const bool *kept) {
  size_t count = 0;
  for (size_t i = 0; i < work->line_count; i++) {
    if (kept[i]) {
      work->lines[count++] = work->lines[i];
      continue;
    }
    size_t index = (size_t)(work->lines[i].item - work->items);
    switch (work->settings->overflow) {
    case OVERFLOW_DROP_OLDEST: end_item(work, index, OUTCOME_DROPPED, REASON_CAP_OLDEST, 0); break;
    case OVERFLOW_DROP_LOWEST: end_item(work, index, OUTCOME_DROPPED, REASON_CAP_LOWEST, 0); break;
    default: work->deferred++; break;
    }
  }
  work->line_count = count;
}

int step_cap(struct work *work) {
  static int (*const orders[])(const void *, const void *) = {
      [OVERFLOW_DEFER] = by_turn, [OVERFLOW_DROP_OLDEST] = by_newest, [OVERFLOW_DROP_LOWEST] = by_importance};
  size_t max = work->settings->max_items;
  if (!max || work->line_count <= max) return 0;
  struct candidate *candidates = arena_zalloc(work->arena, work->line_count, sizeof *candidates);
  bool *kept = arena_zalloc(work->arena, work->line_count, sizeof *kept);
  if (!candidates || !kept) return -1;
  for (size_t i = 0; i < work->line_count; i++) {
    const struct item *item = work->lines[i].item;
    candidates[i] = (struct candidate){.line = i, .n = item->n, .level = item->note.level};
  }
  if (work->settings->overflow == OVERFLOW_DEFER && deal_rounds(work, candidates)) return -1;
  qsort(candidates, work->line_count, sizeof *candidates, orders[work->settings->overflow]);
  for (size_t i = 0; i < max; i++) kept[candidates[i].line] = true;
  keep(work, kept);
  return 0;
}
