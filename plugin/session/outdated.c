/* SPDX-License-Identifier: MIT
 */
#include "session/outdated.h"

#include <stdlib.h>

#include "common/error.h"
#include "event/facts.h"
#include "rules/policy/plan.h"
#include "session/ending.h"
#include "session/ledger.h"
#include "session/pending.h"
#include "session/planning.h"

/* The items that deliveries have shown, or have ended without showing them. */
struct shown {
  struct op *op;
  struct arena *arena; /* for the items and all that is read to find them */
  uint64_t above;      /* items with higher numbers count .. */
  int64_t timed_ms;    /* .. and late items in deliveries from this time on */
  int64_t since_ms;    /* deliveries from this time on count */
  enum delivery_state state;
  struct item *items; /* by n, once they are sorted */
  size_t count, capacity;
  struct tidings_error *error;
};

struct candidates {
  struct item *items;
  size_t count;
  uint64_t above;  /* newer reports have numbers above this one, unless they are late */
  int64_t from_ms; /* when the oldest was pushed; only items shown since then can be newer */
};

static int no_memory_to_compare(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to find the newest states");
}

/* -- what was shown ---------------------------------------------------------------------------- */

static int add_shown_item(void *context, const struct item *item) {
  struct shown *shown = context;
  if (!plan_can_be_outdated(item) || (item->n <= shown->above && !item->late)) return 0;
  if (shown->count == shown->capacity) {
    struct item *larger =
        arena_enlarge(shown->arena, shown->items, &shown->capacity, sizeof *larger);
    if (!larger) return no_memory_to_compare(shown->error);
    shown->items = larger;
  }
  shown->items[shown->count++] = *item;
  return 0;
}

static int add_shown(void *context, const struct delivery *delivery) {
  struct shown *shown = context;
  struct op *op = shown->op;
  bool timed = delivery->leased_ms >= shown->timed_ms;
  int code = 0;
  if (delivery->state != shown->state || (delivery->after <= shown->above && !timed) ||
      delivery->leased_ms < shown->since_ms)
    return 0;
  for (size_t i = 0; !code && i < delivery->disposition_count; i++) {
    const struct disposition_range *range = &delivery->dispositions[i];
    uint64_t first = timed || range->first > shown->above ? range->first : shown->above + 1;
    bool counts = range->outcome == OUTCOME_DELIVERED || range->reason == REASON_SILENT;
    if (counts && range->last >= first)
      code = item_scan(op->txn, op->session, first, range->last, shown->arena, add_shown_item,
                       shown, shown->error);
  }
  return code;
}

static int by_item_number(const void *left, const void *right) {
  uint64_t a = ((const struct item *)left)->n, b = ((const struct item *)right)->n;
  return a < b ? -1 : a > b;
}

static int read_facts_of(struct shown *shown) {
  if (shown->count) qsort(shown->items, shown->count, sizeof *shown->items, by_item_number);
  return facts_read(shown->items, shown->count, shown->arena) ? no_memory_to_compare(shown->error)
                                                              : 0;
}

static int read_committed(struct op *op, const struct candidates *candidates, struct arena *arena,
                          struct shown *ret_shown, struct tidings_error *error) {
  struct shown shown = {.op = op,
                        .arena = arena,
                        .above = candidates->above,
                        .timed_ms = candidates->from_ms,
                        .since_ms = INT64_MIN,
                        .state = DELIVERY_COMMITTED,
                        .error = error};
  int code = delivery_scan(op->txn, op->session, arena, add_shown, &shown, error);
  if (!code) code = read_facts_of(&shown);
  if (!code) *ret_shown = shown;
  return code;
}

/* -- what is pending --------------------------------------------------------------------------- */

static void note_candidate(struct candidates *candidates, const struct item *item) {
  if (item->late) candidates->above = 0;
  else if (item->n < candidates->above) candidates->above = item->n;
  if (item->time_ms < candidates->from_ms) candidates->from_ms = item->time_ms;
}

static int read_candidates(struct op *op, struct candidates *ret_pending,
                           struct tidings_error *error) {
  struct candidates pending = {.above = UINT64_MAX, .from_ms = INT64_MAX};
  size_t count = 0;
  int code = pending_specials(op, &pending.items, &pending.count, error);
  if (code) return code;
  for (size_t i = 0; i < pending.count; i++) {
    const struct item item = pending.items[i];
    if (!plan_can_be_outdated(&item)) continue;
    note_candidate(&pending, &item);
    pending.items[count++] = item;
  }
  pending.count = count;
  if (facts_read(pending.items, count, &op->arena)) return no_memory_to_compare(error);
  *ret_pending = pending;
  return 0;
}

/* -- what ends --------------------------------------------------------------------------------- */

static int compare(const struct candidates *pending, const struct shown *shown,
                   struct disposition **ret_dispositions, size_t *ret_count,
                   struct tidings_error *error) {
  struct disposition *dispositions =
      arena_zalloc(shown->arena, pending->count, sizeof *dispositions);
  if (!dispositions || plan_outdated(pending->items, pending->count, shown->items, shown->count,
                                     shown->arena, dispositions, ret_count))
    return no_memory_to_compare(error);
  *ret_dispositions = dispositions;
  return 0;
}

static void leave_out(struct candidates *pending, const struct disposition *dispositions,
                      size_t count) {
  size_t left = 0, d = 0;
  for (size_t i = 0; i < pending->count; i++) {
    if (d < count && dispositions[d].n == pending->items[i].n) d++;
    else pending->items[left++] = pending->items[i];
  }
  pending->count = left;
}

/* This function and go_with_leased compare all that is pending, with memory that is freed
 * afterwards. */
static int end_older_than_committed(struct op *op, struct candidates *pending,
                                    enum delivery_settled_by by, struct tidings_error *error) {
  struct arena scratch = ARENA_EMPTY;
  struct shown shown;
  struct disposition *dispositions = NULL;
  size_t count = 0;
  int code = read_committed(op, pending, &scratch, &shown, error);
  if (!code && shown.count) code = compare(pending, &shown, &dispositions, &count, error);
  if (!code) code = ending_remove(op, dispositions, count, by, error);
  if (!code) leave_out(pending, dispositions, count);
  arena_free(&scratch);
  return code;
}

/* Adds these dispositions to the delivery, and writes its row. */
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

static int go_with_leased(struct op *op, struct candidates *pending, uint64_t n,
                          struct tidings_error *error) {
  struct arena scratch = ARENA_EMPTY;
  struct shown shown = {.op = op,
                        .arena = &scratch,
                        .above = pending->above,
                        .timed_ms = pending->from_ms,
                        .since_ms = INT64_MIN,
                        .state = DELIVERY_LEASED,
                        .error = error};
  struct delivery delivery;
  struct disposition *dispositions = NULL;
  size_t count = 0;
  int code = delivery_get_leased(op->txn, op->session, &op->head, n, &scratch, &delivery, error);
  if (!code) code = add_shown(&shown, &delivery);
  if (!code) code = read_facts_of(&shown);
  if (!code && shown.count) code = compare(pending, &shown, &dispositions, &count, error);
  if (!code && count) {
    leave_out(pending, dispositions, count);
    code = write_joined(op, &delivery, dispositions, count, error);
  }
  arena_free(&scratch);
  return code;
}

int outdated_end(struct op *op, enum delivery_settled_by by, struct tidings_error *error) {
  struct candidates pending;
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
  struct candidates copies = {.above = UINT64_MAX, .from_ms = INT64_MAX};
  *ret_count = 0;
  if (!count) return 0;
  for (size_t i = 0; i < count; i++) note_candidate(&copies, &items[i]);
  int code = read_committed(op, &copies, &op->arena, &shown, error);
  if (code) return code;
  if (facts_read(items, count, &op->arena) ||
      plan_outdated(items, count, shown.items, shown.count, &op->arena, ret_dispositions,
                    ret_count))
    return no_memory_to_compare(error);
  return 0;
}

/* -- what is left out -------------------------------------------------------------------------- */

bool outdated_may_leave_out(const struct op *op, const struct item *item) {
  const struct head *head = &op->head;
  uint64_t newest = head->taken_count ? head->taken[head->taken_count - 1].last : 0;
  return item->note.made_by == MADE_BY_FILE_CHANGED && (item->late || item->n < newest);
}

/* Reads what leased deliveries have shown. */
static int add_leased(struct shown *shown) {
  const struct op *op = shown->op;
  int code = 0;
  shown->state = DELIVERY_LEASED;
  for (size_t i = 0; !code && i < op->head.leased_count; i++) {
    struct delivery delivery;
    code = delivery_get_leased(op->txn, op->session, &op->head, op->head.leased[i], shown->arena,
                               &delivery, shown->error);
    if (!code) code = add_shown(shown, &delivery);
  }
  return code;
}

/* Reads what committed and leased deliveries have shown. */
static int read_shown(struct op *op, const struct candidates *candidates, struct shown *ret_shown,
                      struct tidings_error *error) {
  struct shown shown;
  int code = read_committed(op, candidates, &op->arena, &shown, error);
  if (!code) code = add_leased(&shown);
  if (!code) code = read_facts_of(&shown);
  if (!code) *ret_shown = shown;
  return code;
}

int outdated_leave_out(struct op *op, struct item *items, size_t count,
                       struct disposition **ret_dispositions, size_t *ret_count,
                       struct tidings_error *error) {
  struct candidates reports = {.above = UINT64_MAX, .from_ms = INT64_MAX};
  struct shown shown;
  *ret_count = 0;
  for (size_t i = 0; i < count; i++) {
    if (!outdated_may_leave_out(op, &items[i]) || items[i].facts.path_count < 2) continue;
    note_candidate(&reports, &items[i]);
    reports.count++;
  }
  if (!reports.count) return 0;
  int code = read_shown(op, &reports, &shown, error);
  if (code || !shown.count) return code;
  *ret_dispositions = arena_array(&op->arena, count, sizeof **ret_dispositions);
  if (!*ret_dispositions || plan_leave_out(items, count, shown.items, shown.count, &op->arena,
                                           *ret_dispositions, ret_count))
    return no_memory_to_compare(error);
  return 0;
}

/* -- what was taken over ----------------------------------------------------------------------- */

/* An item with the time of its push, in whichever session that was. */
struct dated {
  struct item item;
  bool late; /* taken over just now */
};
struct timeline {
  struct dated *all;
  size_t count;
};

static int by_push(const void *left, const void *right) {
  const struct dated *a = left, *b = right;
  if (a->item.time_ms != b->item.time_ms) return a->item.time_ms < b->item.time_ms ? -1 : 1;
  if (a->late != b->late) return a->late ? 1 : -1;
  return a->item.n < b->item.n ? -1 : a->item.n > b->item.n;
}

/* Reads the session's own items: delivered, leased, or pending and not to be removed. */
static int read_own(struct op *op, struct item *items, size_t own, int64_t since_ms,
                    struct shown *ret_shown, struct tidings_error *error) {
  struct shown shown = {.op = op,
                        .arena = &op->arena,
                        .since_ms = since_ms,
                        .state = DELIVERY_COMMITTED,
                        .error = error};
  const bool *left = NULL;
  int code = delivery_scan(op->txn, op->session, &op->arena, add_shown, &shown, error);
  if (!code) code = add_leased(&shown);
  if (!code && own && planning_left(op, items, own, &left)) code = no_memory_to_compare(error);
  for (size_t i = 0; !code && i < own; i++)
    if (left[i] && items[i].note.message.len) code = add_shown_item(&shown, &items[i]);
  *ret_shown = shown;
  return code;
}

/* Numbers the items in the order of their pushes. *ret_late: the items that were taken over. */
static int put_in_order(struct op *op, const struct timeline *timeline, struct item *late,
                        size_t *ret_late, struct item *own, size_t *ret_own) {
  size_t late_count = 0, own_count = 0;
  qsort(timeline->all, timeline->count, sizeof *timeline->all, by_push);
  for (size_t i = 0; i < timeline->count; i++) {
    struct item item = timeline->all[i].item;
    item.n = i + 1;
    if (timeline->all[i].late) late[late_count++] = item;
    else own[own_count++] = item;
  }
  *ret_late = late_count;
  *ret_own = own_count;
  int code = facts_read(late, late_count, &op->arena);
  return code ? code : facts_read(own, own_count, &op->arena);
}

static int by_ended_number(const void *left, const void *right) {
  uint64_t a = ((const struct disposition *)left)->n, b = ((const struct disposition *)right)->n;
  return a < b ? -1 : a > b;
}

static int compare_late(struct op *op, const struct timeline *timeline,
                        struct disposition **ret_dispositions, size_t *ret_count) {
  size_t late_count = 0, own_count = 0, room = timeline->count;
  struct item *late = arena_array(&op->arena, room, sizeof *late);
  struct item *own = arena_array(&op->arena, room, sizeof *own);
  struct disposition *dispositions = arena_array(&op->arena, room, sizeof *dispositions);
  if (!late || !own || !dispositions ||
      put_in_order(op, timeline, late, &late_count, own, &own_count) ||
      plan_outdated(late, late_count, own, own_count, &op->arena, dispositions, ret_count))
    return -1;
  for (size_t i = 0; i < *ret_count; i++) {
    dispositions[i].n = timeline->all[dispositions[i].n - 1].item.n;
    dispositions[i].ref = timeline->all[dispositions[i].ref - 1].item.n;
  }
  if (*ret_count) qsort(dispositions, *ret_count, sizeof *dispositions, by_ended_number);
  *ret_dispositions = dispositions;
  return 0;
}

int outdated_end_late(struct op *op, uint64_t after, enum delivery_settled_by by,
                      struct tidings_error *error) {
  struct timeline timeline = {.count = 0};
  struct shown shown = {.count = 0};
  struct disposition *dispositions = NULL;
  struct item *items;
  size_t count, own = 0, ended = 0;
  int64_t since_ms = INT64_MAX;
  int code =
      item_pending_copied(op->txn, op->session, &op->head, &op->arena, &items, &count, error);
  if (code) return code;
  while (own < count && items[own].n <= after) own++;
  for (size_t i = own; i < count; i++)
    if (items[i].time_ms < since_ms) since_ms = items[i].time_ms;
  if (own < count) code = read_own(op, items, own, since_ms, &shown, error);
  if (code || !shown.count) return code;
  timeline.all = arena_array(&op->arena, shown.count + count, sizeof *timeline.all);
  if (!timeline.all) return no_memory_to_compare(error);
  for (size_t i = 0; i < shown.count; i++)
    timeline.all[timeline.count++] = (struct dated){.item = shown.items[i]};
  for (size_t i = own; i < count; i++)
    if (plan_can_be_outdated(&items[i]))
      timeline.all[timeline.count++] = (struct dated){.item = items[i], .late = true};
  if (compare_late(op, &timeline, &dispositions, &ended)) return no_memory_to_compare(error);
  return ending_remove(op, dispositions, ended, by, error);
}
