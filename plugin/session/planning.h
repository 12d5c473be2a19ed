/* SPDX-License-Identifier: MIT
 *
 * session/planning.h: makes a plan of the items that the store returned. Unlike the policy, it may
 * use the store, JSON and the host.
 */
#ifndef SESSION_PLANNING_H
#define SESSION_PLANNING_H

#include "rules/policy/plan.h"
#include "session/op.h"
#include "session/stored_run.h"

/* The carrier for which a plan is made. */
struct planned_carrier {
  bool chat_request; /* false: a tool result */
  uint64_t pinned;   /* number of the item that its turn was started for; 0: none */
  uint64_t room;     /* bytes, of planning_room; 0: no bound */
  const struct tidings_span *steered; /* the messages that go before the notifications */
  size_t steered_count;
  const struct rendering *as; /* see reply_frame_make; then all items were shown before */
  const struct rest *rest; /* the pending items besides those of the plan; NULL: there are none */
};

/* Returns the smaller of the carrier's and the configuration's bounds; 0: there is no bound. */
uint64_t planning_room(const struct op *op, uint64_t carriers);

/* Returns how many of the steering messages have room, in order. Errors: STORE, NOMEM. */
int planning_steered(struct op *op, const struct stored_run *stored, uint64_t room,
                     size_t *ret_most, struct tidings_error *error);

/* `items` by n; their facts are filled in. A damaged item is dropped, and the log says so; one that
 * is not due stays pending. Errors: STORE, NOMEM. */
int planning_make(struct op *op, const struct planned_carrier *carrier, struct item *items,
                  size_t item_count, struct plan *ret_plan, struct tidings_error *error);

/* For each item: would it be shown now if there were room for all? Returns 0, or -1: no memory. */
int planning_left(struct op *op, struct item *items, size_t item_count, const bool **ret_left);

#endif
