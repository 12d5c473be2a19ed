/* SPDX-License-Identifier: MIT
 *
 * session/pending.h: brings what a delivery needs of what is pending. If there are many
 * notifications, it reads only those that can be on the carrier, by what this process noted of the
 * others when it saw them first (rules/policy/backlog.h).
 */
#ifndef SESSION_PENDING_H
#define SESSION_PENDING_H

#include "session/planning.h"

struct pending {
  struct item *items; /* by n, as of item_pending; NULL: they are read for a plan */
  size_t count;       /* of what is pending, read or not */
  struct backlog_range *ranges;
  size_t range_count;
  bool noted; /* op->known has notes of all of it */
};

/* In a snapshot, with the session's lock. `last`: number of the newest item. `as_rows`: none of
 * them is a row only for this snapshot. Errors: STORE, NOMEM. */
int pending_look(struct op *op, uint64_t last, bool as_rows, struct pending *ret_pending,
                 struct tidings_error *error);

/* Makes a plan of it, in the same snapshot. Errors: STORE, NOMEM. */
int pending_plan(struct op *op, const struct planned_carrier *carrier, struct pending *pending,
                 struct plan *ret_plan, struct tidings_error *error);

/* Those of all that is pending in op's transaction which are not plain (values/outline.h): with a
 * key, a handle, an origin and the like. By n; text is in op's arena. Errors: STORE, NOMEM. */
int pending_specials(struct op *op, struct item **ret_items, size_t *ret_count,
                     struct tidings_error *error);
/* Does any of it ring (notification_rings)? Errors: STORE. */
int pending_rings(struct op *op, bool *ret_any, struct tidings_error *error);

#endif
