/* SPDX-License-Identifier: MIT
 *
 * session/outdated.c: see outdated.h.
 */
#include "session/outdated.h"

#include <stdlib.h>

#include "common/error.h"
#include "event/facts.h"
#include "rules/policy/plan.h"
#include "session/ending.h"
#include "session/ledger.h"

/* What deliveries have shown. */
struct shown {
  struct op *op;
  uint64_t above; /* only items with higher numbers are of interest */
  enum delivery_state state;
  struct item *items; /* by n, once they are sorted */
  size_t count, capacity;
  struct tidings_error *error;
};

struct pending {
  struct item *items;
  size_t count;
};

static int no_memory_to_compare(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to find the newest states");
}

/* -- what was shown ---------------------------------------------------------------------------- */

static int add_shown_item(void *context, const struct item *item) {
  struct shown *shown = context;
  if (!plan_can_be_outdated(item)) return 0;
  if (shown->count == shown->capacity) {
    struct item *larger =
        arena_enlarge(&shown->op->arena, shown->items, &shown->capacity, sizeof *larger);
    if (!larger) return no_memory_to_compare(shown->error);
    shown->items = larger;
  }
  shown->items[shown->count++] = *item;
  return 0;
}

static int add_shown(void *context, const struct delivery *delivery) {
  struct shown *shown = context;
  struct op *op = shown->op;
  int code = 0;
  if (delivery->state != shown->state || delivery->after <= shown->above) return 0;
  for (size_t i = 0; !code && i < delivery->disposition_count; i++) {
    const struct disposition_range *range = &delivery->dispositions[i];
    uint64_t first = range->first > shown->above ? range->first : shown->above + 1;
    if (range->outcome == OUTCOME_DELIVERED && range->last >= first)
      code = item_scan(op->txn, op->session, first, range->last, &op->arena, add_shown_item, shown,
                       shown->error);
  }
  return code;
}

static int by_item_number(const void *left, const void *right) {
  uint64_t a = ((const struct item *)left)->n, b = ((const struct item *)right)->n;
  return a < b ? -1 : a > b;
}

static int read_facts_of(struct shown *shown) {
  if (shown->count) qsort(shown->items, shown->count, sizeof *shown->items, by_item_number);
  return facts_read(shown->items, shown->count, &shown->op->arena)
             ? no_memory_to_compare(shown->error)
             : 0;
}

static int read_committed(struct op *op, uint64_t above, struct shown *ret_shown,
                          struct tidings_error *error) {
  struct shown shown = {.op = op, .above = above, .state = DELIVERY_COMMITTED, .error = error};
  int code = delivery_scan(op->txn, op->session, &op->arena, add_shown, &shown, error);
  if (!code) code = read_facts_of(&shown);
  if (!code) *ret_shown = shown;
  return code;
}

/* -- what is pending --------------------------------------------------------------------------- */

/* Is an item taken above one that may be pending? *ret_first: the lowest number of those. */
static bool is_any_above(const struct head *head, uint64_t *ret_first) {
  uint64_t first = head->watermark ? head->watermark : 1;
  for (size_t i = 0; i < head->taken_count; i++) {
    if (head->taken[i].first > first) {
      *ret_first = first;
      return true;
    }
    first = head->taken[i].last + 1;
  }
  return false;
}

static int read_candidates(struct op *op, struct pending *ret_pending,
                           struct tidings_error *error) {
  uint64_t last = op->head.taken[op->head.taken_count - 1].last;
  struct pending pending;
  size_t count = 0;
  int code = item_pending_copied(op->txn, op->session, &op->head, &op->arena, &pending.items,
                                 &pending.count, error);
  if (code) return code;
  for (size_t i = 0; i < pending.count && pending.items[i].n < last; i++)
    if (plan_can_be_outdated(&pending.items[i])) pending.items[count++] = pending.items[i];
  pending.count = count;
  if (facts_read(pending.items, count, &op->arena)) return no_memory_to_compare(error);
  *ret_pending = pending;
  return 0;
}

/* -- what ends --------------------------------------------------------------------------------- */

static int compare(struct op *op, const struct pending *pending, const struct shown *shown,
                   struct disposition **ret_dispositions, size_t *ret_count,
                   struct tidings_error *error) {
  struct disposition *dispositions = arena_zalloc(&op->arena, pending->count, sizeof *dispositions);
  if (!dispositions || plan_outdated(pending->items, pending->count, shown->items, shown->count,
                                     &op->arena, dispositions, ret_count))
    return no_memory_to_compare(error);
  *ret_dispositions = dispositions;
  return 0;
}

static void leave_out(struct pending *pending, const struct disposition *dispositions,
                      size_t count) {
  size_t left = 0, d = 0;
  for (size_t i = 0; i < pending->count; i++) {
    if (d < count && dispositions[d].n == pending->items[i].n) d++;
    else pending->items[left++] = pending->items[i];
  }
  pending->count = left;
}

static int end_older_than_committed(struct op *op, struct pending *pending,
                                    enum delivery_settled_by by, struct tidings_error *error) {
  struct shown shown;
  struct disposition *dispositions = NULL;
  size_t count = 0;
  int code = read_committed(op, pending->items[0].n, &shown, error);
  if (!code) code = compare(op, pending, &shown, &dispositions, &count, error);
  if (!code) code = ending_remove(op, dispositions, count, by, error);
  if (!code) leave_out(pending, dispositions, count);
  return code;
}

/* The row of the delivery with these in it as well. */
static int write_joined(struct op *op, struct delivery *delivery,
                        const struct disposition *dispositions, size_t count,
                        struct tidings_error *error) {
  size_t most = count, used = 0, next = 0;
  for (size_t i = 0; i < delivery->disposition_count; i++)
    most += (size_t)(delivery->dispositions[i].last - delivery->dispositions[i].first + 1);
  struct disposition *all = arena_array(&op->arena, most, sizeof *all);
  struct delivery joining = {.n = delivery->n};
  if (!all) return no_memory_to_compare(error);
  for (size_t i = 0; i < delivery->disposition_count; i++) {
    const struct disposition_range *range = &delivery->dispositions[i];
    for (uint64_t n = range->first; n <= range->last; n++) {
      while (next < count && dispositions[next].n < n) all[used++] = dispositions[next++];
      all[used++] = (struct disposition){n, range->ref, range->outcome, range->reason};
    }
  }
  while (next < count) all[used++] = dispositions[next++];
  if (ledger_ranges(dispositions, count, &op->arena, &joining.dispositions,
                    &joining.disposition_count) ||
      ledger_join(&op->head, &joining, &op->arena) ||
      ledger_ranges(all, used, &op->arena, &delivery->dispositions, &delivery->disposition_count))
    return no_memory_to_compare(error);
  return delivery_put(op->txn, op->session, delivery, error);
}

static int go_with_leased(struct op *op, struct pending *pending, uint64_t n,
                          struct tidings_error *error) {
  struct shown shown = {
      .op = op, .above = pending->items[0].n, .state = DELIVERY_LEASED, .error = error};
  struct delivery delivery;
  struct disposition *dispositions = NULL;
  size_t count = 0;
  int code = delivery_get_leased(op->txn, op->session, &op->head, n, &op->arena, &delivery, error);
  if (!code) code = add_shown(&shown, &delivery);
  if (!code) code = read_facts_of(&shown);
  if (!code) code = compare(op, pending, &shown, &dispositions, &count, error);
  if (code || !count) return code;
  leave_out(pending, dispositions, count);
  return write_joined(op, &delivery, dispositions, count, error);
}

int outdated_end(struct op *op, enum delivery_settled_by by, struct tidings_error *error) {
  struct pending pending;
  uint64_t first;
  if (!is_any_above(&op->head, &first)) return 0;
  int code = read_candidates(op, &pending, error);
  if (code || !pending.count) return code;
  code = end_older_than_committed(op, &pending, by, error);
  for (size_t i = op->head.leased_count; !code && pending.count && i-- > 0;)
    code = go_with_leased(op, &pending, op->head.leased[i], error);
  return code;
}

int outdated_find(struct op *op, struct item *items, size_t count,
                  struct disposition *ret_dispositions, size_t *ret_count,
                  struct tidings_error *error) {
  struct shown shown;
  *ret_count = 0;
  if (!count) return 0;
  int code = read_committed(op, items[0].n, &shown, error);
  if (code) return code;
  if (facts_read(items, count, &op->arena) ||
      plan_outdated(items, count, shown.items, shown.count, &op->arena, ret_dispositions,
                    ret_count))
    return no_memory_to_compare(error);
  return 0;
}
