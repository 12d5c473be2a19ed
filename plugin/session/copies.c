/* SPDX-License-Identifier: MIT
 */
#include "session/copies.h"

#include <stdlib.h>

#include "common/error.h"

struct reading {
  struct op *op;
  struct arena *arena; /* for the ranges */
  uint32_t session;
  struct copies *copies;
  bool own;                         /* the session's own items count, too */
  struct disposition_range *closed; /* by their first numbers, once they are sorted */
  size_t closed_count, closed_capacity;
  struct tidings_error *error;
};

static int no_memory_for_copies(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to find copies of notifications");
}

int copies_add(struct op *op, struct copies *copies, uint64_t origin, struct tidings_error *error) {
  if (copies->count == copies->capacity) {
    uint64_t *larger =
        arena_enlarge(&op->arena, copies->origins, &copies->capacity, sizeof *larger);
    if (!larger) return no_memory_for_copies(error);
    copies->origins = larger;
  }
  copies->origins[copies->count++] = origin;
  return 0;
}

static int by_id(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

bool copies_has(const struct copies *copies, uint64_t origin) {
  for (size_t i = copies->sorted; i < copies->count; i++)
    if (copies->origins[i] == origin) return true;
  return copies->sorted &&
         bsearch(&origin, copies->origins, copies->sorted, sizeof *copies->origins, by_id);
}

/* -- what was closed --------------------------------------------------------------------------- */

static int add_closed(void *context, const struct delivery *delivery) {
  struct reading *reading = context;
  if (delivery->state != DELIVERY_COMMITTED) return 0;
  for (size_t i = 0; i < delivery->disposition_count; i++) {
    if (delivery->dispositions[i].outcome != OUTCOME_CLOSED) continue;
    if (reading->closed_count == reading->closed_capacity) {
      struct disposition_range *larger =
          arena_enlarge(reading->arena, reading->closed, &reading->closed_capacity, sizeof *larger);
      if (!larger) return no_memory_for_copies(reading->error);
      reading->closed = larger;
    }
    reading->closed[reading->closed_count++] = delivery->dispositions[i];
  }
  return 0;
}

static int by_first(const void *left, const void *right) {
  uint64_t a = ((const struct disposition_range *)left)->first,
           b = ((const struct disposition_range *)right)->first;
  return a < b ? -1 : a > b;
}

/* Equal if one of them is within the other. */
static int by_range(const void *left, const void *right) {
  const struct disposition_range *a = left, *b = right;
  if (a->last < b->first) return -1;
  return a->first > b->last;
}

static bool is_closed(const struct reading *reading, uint64_t n) {
  const struct disposition_range one = {.first = n, .last = n};
  return reading->closed_count &&
         bsearch(&one, reading->closed, reading->closed_count, sizeof *reading->closed, by_range);
}

/* -- reading ----------------------------------------------------------------------------------- */

static int add_item(void *context, const struct item *item) {
  struct reading *reading = context;
  struct op *op = reading->op;
  struct origin origin = {0};
  if (is_closed(reading, item->n)) return 0;
  int code = !item->copied
                 ? 0
                 : item_get_origin(op->txn, reading->session, item->n, &origin, reading->error);
  if (!origin.item && reading->own) origin.item = public_id(reading->session, item->n);
  return code || !origin.item ? code : copies_add(op, reading->copies, origin.item, reading->error);
}

static int read_items(struct reading *reading) {
  struct op *op = reading->op;
  struct copies *copies = reading->copies;
  int code =
      item_scan(op->txn, reading->session, 0, UINT64_MAX, NULL, add_item, reading, reading->error);
  if (!code && copies->count) qsort(copies->origins, copies->count, sizeof *copies->origins, by_id);
  copies->sorted = copies->count;
  return code;
}

int copies_read(struct op *op, uint32_t session, struct copies *ret_copies,
                struct tidings_error *error) {
  struct reading reading = {.op = op, .session = session, .copies = ret_copies, .error = error};
  *ret_copies = (struct copies){.count = 0};
  return read_items(&reading);
}

int copies_read_kept(struct op *op, struct copies *ret_copies, struct tidings_error *error) {
  struct arena scratch = ARENA_EMPTY;
  struct reading reading = {.op = op,
                            .arena = &scratch,
                            .session = op->session,
                            .copies = ret_copies,
                            .own = true,
                            .error = error};
  *ret_copies = (struct copies){.count = 0};
  int code = delivery_scan(op->txn, op->session, &scratch, add_closed, &reading, error);
  if (!code && reading.closed_count)
    qsort(reading.closed, reading.closed_count, sizeof *reading.closed, by_first);
  if (!code) code = read_items(&reading);
  arena_free(&scratch);
  return code;
}
