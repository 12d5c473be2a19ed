/* SPDX-License-Identifier: MIT
 *
 * rules/policy/fair.c: decides which items go first if not all fit. Critical items go first; then
 * pinned ones, because they started the very turn that carries them; then the more important
 * levels. Within a level the sources take turns, so that a chatty source cannot keep the others
 * out.
 */
#include <string.h>

#include "rules/policy/steps.h"

struct candidate {
  size_t line;  /* its rank */
  size_t round; /* how many of its source and level go before it */
  uint8_t level;
  bool pinned;
};

static int by_turn(const void *left, const void *right) {
  const struct candidate *a = left, *b = right;
  bool critical = a->level == TIDINGS_LEVEL_CRITICAL;
  if (critical != (b->level == TIDINGS_LEVEL_CRITICAL)) return critical ? -1 : 1;
  if (a->pinned != b->pinned) return a->pinned ? -1 : 1;
  if (a->level != b->level) return a->level > b->level ? -1 : 1;
  if (a->round != b->round) return a->round < b->round ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

/* Many lines may wait, and few are shown. So memory that need not be written is not touched. */
static int deal_rounds(const struct work *work, struct candidate *candidates) {
  struct tidings_span *sources = arena_array(work->arena, work->line_count, sizeof *sources);
  size_t *leaders = arena_array(work->arena, work->line_count, sizeof *leaders);
  size_t(*taken)[LEVEL_COUNT] = arena_array(work->arena, work->line_count, sizeof *taken);
  if (!sources || !leaders || !taken) return -1;
  for (size_t i = 0; i < work->line_count; i++) sources[i] = work->lines[i].item->note.source;
  if (policy_group_equal(sources, work->line_count, work->arena, leaders)) return -1;
  for (size_t i = 0; i < work->line_count; i++) {
    if (leaders[i] == i) memset(taken[i], 0, sizeof taken[i]);
    candidates[i].round = taken[leaders[i]][candidates[i].level]++;
  }
  return 0;
}

static struct candidate *deal(const struct work *work) {
  struct candidate *candidates = arena_array(work->arena, work->line_count, sizeof *candidates);
  if (!candidates) return NULL;
  for (size_t i = 0; i < work->line_count; i++)
    candidates[i] = (struct candidate){
        .line = i, .pinned = work->lines[i].pinned, .level = work->lines[i].level};
  return deal_rounds(work, candidates) ? NULL : candidates;
}

int policy_fair_order(const struct work *work, size_t *ret_order) {
  struct candidate *candidates = deal(work);
  if (!candidates) return -1;
  policy_sort(candidates, work->line_count, sizeof *candidates, by_turn);
  for (size_t i = 0; i < work->line_count; i++) ret_order[i] = candidates[i].line;
  return 0;
}

/* Inserts a candidate into the first `count` ones, which are in order; at most `most` are kept.
 * Returns how many there are. */
static size_t insert(struct candidate *first, size_t count, size_t most,
                     const struct candidate *candidate) {
  if (count == most && by_turn(candidate, &first[count - 1]) > 0) return count;
  size_t at = count < most ? count++ : count - 1;
  for (; at && by_turn(candidate, &first[at - 1]) < 0; at--) first[at] = first[at - 1];
  first[at] = *candidate;
  return count;
}

int policy_fair_first(const struct work *work, size_t most, bool *kept) {
  enum { FEW = 64 }; /* for more, sorting all of them is less work */
  struct candidate first[FEW];
  size_t count = 0;
  if (!most) return 0;
  struct candidate *candidates = deal(work);
  if (!candidates) return -1;
  if (most > FEW) {
    policy_sort(candidates, work->line_count, sizeof *candidates, by_turn);
    for (size_t i = 0; i < most; i++) kept[candidates[i].line] = true;
    return 0;
  }
  for (size_t i = 0; i < work->line_count; i++) count = insert(first, count, most, &candidates[i]);
  for (size_t i = 0; i < count; i++) kept[first[i].line] = true;
  return 0;
}

void policy_defer_lines(struct work *work, const bool *kept) {
  size_t count = 0;
  for (size_t i = 0; i < work->line_count; i++) {
    if (kept[i]) work->lines[count++] = work->lines[i];
    else work->deferred++;
  }
  work->line_count = count;
}
