/* SPDX-License-Identifier: MIT
 *
 * rules/policy/rank.c: puts the lines into the order in which they are shown.
 */
#include <stdlib.h>

#include "rules/policy/steps.h"

static int by_time(const void *left, const void *right) {
  const struct line *a = left, *b = right;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

static int by_newest(const void *left, const void *right) { return by_time(right, left); }

static int by_level(const void *left, const void *right) {
  const struct line *a = left, *b = right;
  if (a->level != b->level) return a->level > b->level ? -1 : 1;
  return by_time(left, right);
}

void policy_sort(void *base, size_t count, size_t size,
                 int (*compare)(const void *left, const void *right)) {
  const char *at = base;
  for (size_t i = 1; i < count; i++, at += size) {
    if (compare(at, at + size) > 0) {
      qsort(base, count, size, compare);
      return;
    }
  }
}

void policy_rank(struct work *work) {
  static int (*const orders[])(const void *, const void *) = {
      [ORDER_LEVEL] = by_level, [ORDER_TIME] = by_time, [ORDER_NEWEST] = by_newest};
  policy_sort(work->lines, work->line_count, sizeof *work->lines, orders[work->settings->order]);
}
