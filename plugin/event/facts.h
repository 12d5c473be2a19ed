/* SPDX-License-Identifier: MIT
 *
 * event/facts.h: the facts that the policy needs from an item's `data`. The policy itself knows no
 * JSON.
 */
#ifndef EVENT_FACTS_H
#define EVENT_FACTS_H

#include "common/arena.h"
#include "values/notification.h"

/* Fills in the facts of each item that a report made: the data of `file.changed`, `mcp.state` and
 * `rate.limited`. Text is in the arena. Data of another form, or that is not JSON, gives no facts.
 * Returns 0, or -1: no memory. */
int facts_read(struct item *items, size_t count, struct arena *arena);

#endif
