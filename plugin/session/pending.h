/* SPDX-License-Identifier: MIT
 *
 * session/pending.h: reads the pending notifications that a delivery needs. If there are many, it
 * reads only those that can be on the carrier; it finds these by notes that this process made of
 * each item when it first saw it (rules/policy/backlog.h).
 */
#ifndef SESSION_PENDING_H
#define SESSION_PENDING_H

#include "session/planning.h"

struct pending {
  struct item *items; /* of item_pending; NULL: the plan will read some */
  size_t count;       /* how many are pending, whether read or not */
  struct backlog_range *ranges;
  size_t range_count;
  bool noted; /* op->known has notes of all pending items */
};

/* To be called in a snapshot, with the session's lock. `last`: number of the newest item.
 * `as_rows`: all items are stored rows; none exists in this snapshot only. Errors: STORE, NOMEM. */
int pending_look(struct op *op, uint64_t last, bool as_rows, struct pending *ret_pending,
                 struct tidings_error *error);

/* Makes the plan of a delivery from the pending items, in the same snapshot. Errors: STORE,
 * NOMEM. */
int pending_plan(struct op *op, const struct planned_carrier *carrier, struct pending *pending,
                 struct plan *ret_plan, struct tidings_error *error);

/* Reads the pending items in op's transaction that are not plain (values/outline.h), such as those
 * with a key, a handle or an origin. By n; text is in op's arena. Errors: STORE, NOMEM. */
int pending_specials(struct op *op, struct item **ret_items, size_t *ret_count,
                     struct tidings_error *error);
/* Does any pending notification ring (notification_rings)? Errors: STORE. */
int pending_rings(struct op *op, bool *ret_any, struct tidings_error *error);

/* Returns when the first of these items that ring and are for later is due; 0: there is none. */
int64_t pending_first_due_ms(const struct op *op, const struct item *items, size_t count);
/* The same for all that is pending and that this plan does not end, in its snapshot. Errors: STORE,
 * NOMEM. */
int pending_next_ms(struct op *op, const struct pending *pending, const struct plan *plan,
                    int64_t *ret_ms, struct tidings_error *error);

#endif
