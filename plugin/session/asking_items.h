/* SPDX-License-Identifier: MIT
 *
 * session/asking_items.h: which pending items ask for a turn or an interruption, in the form that
 * the machine of turns takes.
 */
#ifndef SESSION_ASKING_ITEMS_H
#define SESSION_ASKING_ITEMS_H

#include "rules/turns/turns.h"
#include "session/op.h"

struct asking_items {
  struct urgency urgency;
  const struct item *most; /* the most pressing of those that ask: criticals first, then the oldest.
                              NULL: none asks */
  int64_t next_ms;         /* when the next that will ask is due; 0: none will */
};

/* `items`: pending ones, by n; those up to `unfit` ask for nothing. Returns 0, or -1: no memory. */
int asking_items_find(struct op *op, uint64_t unfit, struct item *items, size_t count,
                      struct asking_items *ret_asking);

#endif
