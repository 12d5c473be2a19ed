/* SPDX-License-Identifier: MIT
 */
#include "session/inherit.h"

#include "common/error.h"
#include "session/ending.h"
#include "session/outdated.h"
#include "session/pending.h"

static bool names_another_session(const struct op *op, const struct session_event *named) {
  for (size_t i = 0; i < named->delivery_count; i++) {
    if (public_id_session(named->deliveries[i]) != op->session) return true;
  }
  return false;
}

struct inheritance {
  struct op *op;
  struct disposition *dispositions; /* of copies whose delivery (ref) is named */
  size_t count;
};

static bool is_named(const struct session_event *named, uint64_t id) {
  for (size_t i = 0; named && i < named->delivery_count; i++) {
    if (named->deliveries[i] == id) return true;
  }
  return false;
}

static int find_copies(struct inheritance *inheritance, const struct session_event *named,
                       struct tidings_error *error) {
  struct op *op = inheritance->op;
  struct item *items;
  size_t count;
  int code = pending_specials(op, &items, &count, error);
  if (code) return code;
  inheritance->dispositions = arena_zalloc(&op->arena, count, sizeof *inheritance->dispositions);
  if (!inheritance->dispositions)
    return fail(error, TIDINGS_E_NOMEM, "no memory to resume a forked session");
  for (size_t i = 0; !code && i < count; i++) {
    struct origin origin = {0};
    if (items[i].copied) code = item_get_origin(op->txn, op->session, items[i].n, &origin, error);
    if (code || !origin.delivery) continue;
    bool was_withdrawn = origin.outcome == OUTCOME_NONE;
    if (is_named(named, origin.delivery))
      inheritance->dispositions[inheritance->count++] = (struct disposition){
          items[i].n, origin.delivery, was_withdrawn ? (uint8_t)OUTCOME_DELIVERED : origin.outcome,
          (uint8_t)REASON_PARENT};
    else if (was_withdrawn)
      inheritance->dispositions[inheritance->count++] =
          (struct disposition){items[i].n, 0, OUTCOME_WITHDRAWN, (uint8_t)REASON_POLLED};
  }
  return code;
}

/* Writes one row for each delivery of the parent, because a rewind may take back one of them alone.
 */
static int end_copies(struct inheritance *inheritance, uint64_t delivery,
                      struct tidings_error *error) {
  struct op *op = inheritance->op;
  struct disposition *dispositions =
      arena_zalloc(&op->arena, inheritance->count, sizeof *dispositions);
  size_t count = 0, left = 0;
  if (!dispositions) return fail(error, TIDINGS_E_NOMEM, "no memory to resume a forked session");
  for (size_t i = 0; i < inheritance->count; i++) {
    const struct disposition *disposition = &inheritance->dispositions[i];
    if (disposition->ref == delivery) dispositions[count++] = *disposition;
    else inheritance->dispositions[left++] = *disposition;
  }
  inheritance->count = left;
  return ending_remove(op, dispositions, count, SETTLED_BY_RESUME, error);
}

int inherit_named(struct op *op, const struct session_event *named, struct tidings_error *error) {
  struct inheritance inheritance = {.op = op};
  if (op->head.epoch > 1 && !(named && names_another_session(op, named))) return 0;
  int code = find_copies(&inheritance, named, error);
  if (code || !inheritance.count) return code; /* nothing was shown, so nothing is outdated */
  while (!code && inheritance.count)
    code = end_copies(&inheritance, inheritance.dispositions[0].ref, error);
  return code ? code : outdated_end(op, SETTLED_BY_RESUME, error);
}
