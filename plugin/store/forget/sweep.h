/* SPDX-License-Identifier: MIT
 *
 * store/forget/sweep.h: how far the sweep got, and the purge that follows it.
 */
#ifndef STORE_FORGET_SWEEP_H
#define STORE_FORGET_SWEEP_H

#include "store/forget/retention.h"

struct sweep {
  uint32_t session; /* the next session to visit; 0: the sweep rests */
  uint64_t rule, n; /* the rule and the number at which to continue */
  /* how many closed sessions have only name and head left, as counted in the last complete round;
   * 0: all of them were purged */
  uint64_t purgeable;
  uint64_t found; /* counted so far in this round */
  uint64_t name;  /* the next name row that the purge looks at */
  int64_t rested_ms;
};

int sweep_get(struct store_txn *txn, struct sweep *ret_sweep); /* 0, or the engine's error */
int sweep_put(struct store_txn *txn, const struct sweep *sweep, struct tidings_error *error);
bool sweep_rests(const struct sweep *sweep, int64_t now_ms);

/* purge.c: at open, before any other process may open the store. A failure is logged; the purge is
 * tried again at the next open. */
void purge_run(struct store *store, int64_t now_ms, store_deadline deadline);

#endif
