/* SPDX-License-Identifier: MIT
 *
 * session/planning.h: from items as the store gave them to a plan: what the policy must not know is
 * done around it.
 */
#ifndef SESSION_PLANNING_H
#define SESSION_PLANNING_H

#include "instance/instance.h"
#include "rules/policy/plan.h"

struct planning {
  const struct instance *instance;
  const struct settings *settings;
  int64_t now_ms;
  struct arena *arena;
  uint64_t pinned; /* number of the item that the carrier's turn was started for; 0: none */
};

/* `items` by n; their facts are filled in. What is damaged is dropped, and said so in the log.
 * Returns 0, or -1: no memory. */
int planning_make(const struct planning *planning, struct item *items, size_t item_count,
                  struct plan *ret_plan);

/* For each item: would it be told, were there room for all? Returns 0, or -1: no memory. */
int planning_left(const struct planning *planning, struct item *items, size_t item_count,
                  const bool **ret_left);

#endif
