/* SPDX-License-Identifier: MIT
 *
 * rules/policy/cap.c: at most max_items lines. The others wait (defer; fair.c says which), or are
 * dropped with a reason: the oldest, or the least important. Critical ones wait instead, and so
 * does the one for which the turn was started.
 */
#include <stdlib.h>

#include "rules/policy/steps.h"

struct candidate {
  size_t line; /* its rank */
  uint64_t newest;
  uint8_t level;
  bool pinned;
};

static bool is_line_critical(const struct candidate *candidate) {
  return candidate->level == TIDINGS_LEVEL_CRITICAL;
}

/* Critical items go first, then what the turn was started for. */
static unsigned claim_of(const struct candidate *candidate) {
  return 2u * is_line_critical(candidate) + candidate->pinned;
}

/* A critical item comes with a later carrier if not with this one: the oldest goes first. */
static int newest_first(const void *left, const void *right) {
  const struct candidate *a = left, *b = right;
  if (claim_of(a) != claim_of(b)) return claim_of(a) > claim_of(b) ? -1 : 1;
  if (is_line_critical(a)) return a->newest < b->newest ? -1 : a->newest > b->newest;
  return a->newest > b->newest ? -1 : a->newest < b->newest;
}

static int by_importance(const void *left, const void *right) {
  const struct candidate *a = left, *b = right;
  if (claim_of(a) != claim_of(b)) return claim_of(a) > claim_of(b) ? -1 : 1;
  if (a->level != b->level) return a->level > b->level ? -1 : 1;
  return newest_first(left, right);
}

static int choose(struct work *work, int (*order)(const void *, const void *), bool *kept) {
  struct candidate *candidates = arena_zalloc(work->arena, work->line_count, sizeof *candidates);
  if (!candidates) return -1;
  for (size_t i = 0; i < work->line_count; i++) {
    const struct line *line = &work->lines[i];
    candidates[i] = (struct candidate){
        .line = i, .newest = line->newest, .level = line->level, .pinned = line->pinned};
  }
  qsort(candidates, work->line_count, sizeof *candidates, order);
  for (size_t i = 0; i < work->settings->max_items; i++) kept[candidates[i].line] = true;
  return 0;
}

static void drop_lines(struct work *work, const bool *kept, enum reason reason) {
  size_t count = 0;
  for (size_t l = 0; l < work->line_count; l++) {
    if (kept[l]) {
      work->lines[count++] = work->lines[l];
      continue;
    }
    if (work->lines[l].level == TIDINGS_LEVEL_CRITICAL || work->lines[l].pinned) {
      work->deferred++;
      continue;
    }
    work->dropped++;
    for (size_t i = first_of(work, &work->lines[l]); i != NO_ITEM; i = work->next[i])
      end_item(work, i, OUTCOME_DROPPED, reason, 0);
  }
  work->line_count = count;
}

int policy_cap(struct work *work) {
  size_t max = work->settings->max_items;
  if (!max || work->line_count <= max) return 0;
  bool *kept = arena_zalloc(work->arena, work->line_count, sizeof *kept);
  if (!kept) return -1;
  switch (work->settings->overflow) {
  case OVERFLOW_DROP_OLDEST:
    if (choose(work, newest_first, kept)) return -1;
    drop_lines(work, kept, REASON_CAP_OLDEST);
    return 0;
  case OVERFLOW_DROP_LOWEST:
    if (choose(work, by_importance, kept)) return -1;
    drop_lines(work, kept, REASON_CAP_LOWEST);
    return 0;
  default:
    if (policy_fair_first(work, max, kept)) return -1;
    policy_defer_lines(work, kept);
    return 0;
  }
}
