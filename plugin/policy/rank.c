/* SPDX-License-Identifier: MIT
 *
 * policy/rank.c: what is left becomes lines, in the order in which they are shown.
 */
#include <stdlib.h>

#include "policy/steps.h"

static int by_time(const void *left, const void *right) {
  const struct line *a = left, *b = right;
  return a->place < b->place ? -1 : a->place > b->place;
}

static int by_newest(const void *left, const void *right) { return by_time(right, left); }

static int by_level(const void *left, const void *right) {
  const struct line *a = left, *b = right;
  if (a->item->note.level != b->item->note.level) return a->item->note.level > b->item->note.level ? -1 : 1;
  return by_time(left, right);
}

int step_rank(struct work *work) {
  static int (*const orders[])(const void *, const void *) = {[ORDER_LEVEL] = by_level, [ORDER_TIME] = by_time, [ORDER_NEWEST] = by_newest};
  work->lines = arena_zalloc(work->arena, work->item_count, sizeof *work->lines);
  if (!work->lines) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    if (!is_left(work, i)) continue;
    const struct item *item = &work->items[i];
    work->lines[work->line_count++] = (struct line){.item = item, .message = item->note.message, .place = work->places[i], .count = 1};
  }
  qsort(work->lines, work->line_count, sizeof *work->lines, orders[work->settings->order]);
  return 0;
}
