/* SPDX-License-Identifier: MIT
 *
 * session/planning.h: from items as the store gave them to a plan: what the policy must not know is
 * done around it.
 */
#ifndef SESSION_PLANNING_H
#define SESSION_PLANNING_H

#include "rules/policy/plan.h"
#include "session/op.h"

/* `items` by n; their facts are filled in. `pinned`: number of the item that the carrier's turn was
 * started for; 0: none. What is damaged is dropped, and said so in the log. Returns 0, or -1: no
 * memory. */
int planning_make(struct op *op, uint64_t pinned, struct item *items, size_t item_count,
                  struct plan *ret_plan);

/* For each item: would it be shown, were there room for all? Returns 0, or -1: no memory. */
int planning_left(struct op *op, struct item *items, size_t item_count, const bool **ret_left);

#endif
