/* SPDX-License-Identifier: MIT
 *
 * flow/fork.c: gives a forked session the notifications with which it starts. A leased notification
 * may or may not be in the child's transcript: the child gets a copy in either case, with the id of
 * the parent's delivery. A host that finds this id in the child's transcript names it on resuming
 * (session/inherit.c).
 */
#include <stdlib.h>

#include "common/error.h"
#include "flow/internal.h"
#include "session/copies.h"
#include "session/outdated.h"

struct copy {
  struct item item;
  int64_t order_ms; /* see put_in_order */
  struct origin origin;
  bool leased;
};

struct forking {
  struct op *op;
  uint32_t child; /* its number */
  struct copy *copies;
  size_t count, capacity;
  const struct delivery *delivery; /* the delivery whose items are looked at; NULL: none */
  const struct disposition_range *disposition;
  bool is_new; /* no host has had the child yet */
  struct tidings_error *error;
  struct copies known; /* what the child has already */
};

static int no_memory_to_fork(const struct forking *forking) {
  return fail(forking->error, TIDINGS_E_NOMEM, "no memory to fork the session");
}

/* Has the child a copy of the item, or did the item come from the child itself? */
static bool has_copy(const struct forking *forking, uint64_t origin) {
  return public_id_session(origin) == forking->child || copies_has(&forking->known, origin);
}

/* -- what the parent has ----------------------------------------------------------------------- */

static bool was_recalled(const struct delivery *delivery, uint64_t n) {
  for (size_t i = 0; i < delivery->recalled_count; i++)
    if (delivery->recalled[i].first <= n && n <= delivery->recalled[i].last) return true;
  return false;
}

/* A copy of a copy has the origin of the first item. If no carrier of this session has shown it,
 * one of the parent's may have. */
static int find_origin(const struct forking *forking, const struct item *item,
                       struct origin *ret_origin) {
  const struct op *op = forking->op;
  struct origin origin = {0};
  int code =
      item->copied ? item_get_origin(op->txn, op->session, item->n, &origin, forking->error) : 0;
  if (code) return code;
  if (!origin.item) origin.item = public_id(op->session, item->n);
  if (forking->delivery) {
    origin.delivery = delivery_id(op->session, forking->delivery);
    origin.outcome = was_recalled(forking->delivery, item->n) ? (uint8_t)OUTCOME_NONE
                                                              : forking->disposition->outcome;
  }
  *ret_origin = origin;
  return 0;
}

static int add_copy(struct forking *forking, const struct item *item) {
  struct copy copy = {.item = *item, .leased = forking->delivery != NULL};
  if (!item->note.message.len) return 0; /* a damaged item is not copied */
  int code = find_origin(forking, item, &copy.origin);
  if (code || has_copy(forking, copy.origin.item)) return code;
  if (forking->count == forking->capacity) {
    struct copy *larger =
        arena_enlarge(&forking->op->arena, forking->copies, &forking->capacity, sizeof *larger);
    if (!larger) return no_memory_to_fork(forking);
    forking->copies = larger;
  }
  forking->copies[forking->count++] = copy;
  return 0;
}

/* An item that was withdrawn while it was leased is copied only if it may keep others from being
 * shown: if the child's transcript has that carrier, nothing older about the same thing is shown
 * after it. The copy stands for the item until a host has the child (session/inherit.c). */
static int add_leased_item(void *context, const struct item *item) {
  struct forking *forking = context;
  bool recalled = was_recalled(forking->delivery, item->n),
       shown = forking->disposition->outcome == OUTCOME_DELIVERED;
  if (recalled && (!shown || !forking->is_new || !plan_can_be_outdated(item))) return 0;
  return add_copy(forking, item);
}

static int add_leased(struct forking *forking, uint64_t n) {
  struct op *op = forking->op;
  struct delivery delivery;
  int code = delivery_get_leased(op->txn, op->session, &op->head, n, &op->arena, &delivery,
                                 forking->error);
  forking->delivery = &delivery;
  for (size_t i = 0; !code && i < delivery.disposition_count; i++) {
    forking->disposition = &delivery.dispositions[i];
    code = item_scan(op->txn, op->session, forking->disposition->first, forking->disposition->last,
                     &op->arena, add_leased_item, forking, forking->error);
  }
  forking->delivery = NULL;
  forking->disposition = NULL;
  return code;
}

static int by_commit(const void *left, const void *right) {
  uint64_t a = ((const struct copy *)left)->item.n, b = ((const struct copy *)right)->item.n;
  return a < b ? -1 : a > b;
}

static int by_order(const void *left, const void *right) {
  const struct copy *a = left, *b = right;
  if (a->order_ms != b->order_ms) return a->order_ms < b->order_ms ? -1 : 1;
  return by_commit(left, right);
}

/* Sorts the copies in the order in which the items were committed. Items that came late are sorted
 * by their time. */
static void put_in_order(struct forking *forking) {
  int64_t newest_ms = INT64_MIN;
  for (size_t i = 0; i < forking->count; i++) {
    struct copy *copy = &forking->copies[i];
    bool is_newest = copy->item.late || copy->item.time_ms > newest_ms;
    copy->order_ms = is_newest ? copy->item.time_ms : newest_ms;
    if (!copy->item.late) newest_ms = copy->order_ms;
  }
  if (forking->count) qsort(forking->copies, forking->count, sizeof *forking->copies, by_order);
}

/* Leaves out leased items that the child's transcript has newer reports of. */
static int leave_out_outdated(struct forking *forking) {
  struct op *op = forking->op;
  struct item *items = arena_array(&op->arena, forking->count, sizeof *items);
  struct disposition *outdated = arena_array(&op->arena, forking->count, sizeof *outdated);
  size_t leased = 0, count = 0, kept = 0;
  if (!items || !outdated) return no_memory_to_fork(forking);
  for (size_t i = 0; i < forking->count; i++)
    if (forking->copies[i].leased && plan_can_be_outdated(&forking->copies[i].item))
      items[leased++] = forking->copies[i].item;
  int code = outdated_find(op, items, leased, outdated, &count, forking->error);
  if (code) return code;
  for (size_t i = 0, o = 0; i < forking->count; i++) {
    if (o < count && outdated[o].n == forking->copies[i].item.n) o++;
    else forking->copies[kept++] = forking->copies[i];
  }
  forking->count = kept;
  return 0;
}

static int gather_copies(struct forking *forking) {
  struct op *op = forking->op;
  struct item *items;
  size_t count;
  int code = item_pending_copied(op->txn, op->session, &op->head, &op->arena, &items, &count,
                                 forking->error);
  for (size_t i = 0; !code && i < count; i++) code = add_copy(forking, &items[i]);
  for (size_t i = 0; !code && i < op->head.leased_count; i++)
    code = add_leased(forking, op->head.leased[i]);
  if (!code && forking->count)
    qsort(forking->copies, forking->count, sizeof *forking->copies, by_commit);
  if (!code) code = leave_out_outdated(forking);
  if (!code) put_in_order(forking);
  return code;
}

/* -- the fork ---------------------------------------------------------------------------------- */

static int find_whether_new(struct forking *forking) {
  struct op child = {
      .instance = forking->op->instance, .txn = forking->op->txn, .session = forking->child};
  int code = op_get_head(&child, forking->error);
  forking->is_new = !code && !child.head.epoch;
  arena_free(&child.arena);
  return code;
}

int fork_session(struct op *op, struct tidings_span child, struct tidings_error *error) {
  struct forking forking = {.op = op, .error = error};
  struct memory memory = {0};
  int code = memory_get(op->txn, op->session, &op->arena, &memory, error);
  if (!code) code = session_add(op->txn, child, &forking.child, error);
  memory.call_count = 0; /* the parent's */
  if (!code) code = find_whether_new(&forking);
  if (!code && forking.is_new && (memory.budget_percent || memory.edits.len))
    code = memory_put(op->txn, forking.child, &memory, error);
  if (!code) code = copies_read(op, forking.child, &forking.known, error);
  if (!code) code = gather_copies(&forking);
  for (size_t i = 0; !code && i < forking.count; i++) {
    const struct push push = {.session = child,
                              .note = &forking.copies[i].item.note,
                              .origin = &forking.copies[i].origin,
                              .now_ms = forking.copies[i].item.pushed_ms,
                              .pending_limit = op->settings->pending_per_session,
                              .rings = notification_rings(&forking.copies[i].item.note),
                              .rings_caller = true};
    code = push_in(op->txn, &push, error);
  }
  return code;
}
