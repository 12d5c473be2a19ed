/* SPDX-License-Identifier: MIT
 *
 * rules/policy/order.c: puts the items in the order in which they count. That is the order of their
 * numbers, but items that were for later, or that another session had, are placed by their time.
 */
#include <stdlib.h>

#include "rules/policy/steps.h"

struct ordered {
  int64_t order_ms; /* its time; for an item that is not late, the newest time up to it */
  size_t index;
};

static int by_order(const void *left, const void *right) {
  const struct ordered *a = left, *b = right;
  if (a->order_ms != b->order_ms) return a->order_ms < b->order_ms ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}

static bool any_late(const struct work *work) {
  for (size_t i = 0; i < work->item_count; i++)
    if (work->items[i].late) return true;
  return false;
}

int policy_put_in_order(struct work *work) {
  int64_t newest_ms = INT64_MIN;
  size_t count = work->item_count;
  if (!any_late(work)) return 0;
  struct ordered *ordered = arena_array(work->arena, count, sizeof *ordered);
  struct item *items = arena_array(work->arena, count, sizeof *items);
  size_t *order = arena_array(work->arena, count, sizeof *order);
  if (!ordered || !items || !order) return -1;
  for (size_t i = 0; i < count; i++) {
    const struct item *item = &work->items[i];
    if (!item->late && item->time_ms > newest_ms) newest_ms = item->time_ms;
    ordered[i] = (struct ordered){item->late ? item->time_ms : newest_ms, i};
  }
  qsort(ordered, count, sizeof *ordered, by_order);
  for (size_t i = 0; i < count; i++) {
    order[i] = ordered[i].index;
    items[i] = work->items[order[i]];
  }
  work->items = items;
  work->order = order;
  return 0;
}
