/* SPDX-License-Identifier: MIT
 *
 * store/forget/sweep.h: how far the sweep got, for sweep.c and graves.c. Not for anybody outside
 * this folder.
 */
#ifndef STORE_FORGET_SWEEP_H
#define STORE_FORGET_SWEEP_H

#include "store/forget/retention.h"

struct sweep {
  uint32_t session; /* the next one to visit; 0: it rests */
  uint64_t rule, n; /* and from where */
  uint64_t graves;  /* found in the last round that came to its end, and not buried yet */
  uint64_t found;   /* in this round */
  uint64_t name;    /* the next name row to look at for a grave */
  int64_t rested_ms;
};

int sweep_get(struct store_txn *txn, struct sweep *ret_sweep); /* 0, or an LMDB error */
int sweep_put(struct store_txn *txn, const struct sweep *sweep, struct tidings_error *error);
bool sweep_rests(const struct sweep *sweep, int64_t now_ms);

/* graves.c: at open, before anybody else may open the store. What fails is logged and tried again
 * at another time. */
void sweep_alone(struct store *store, int64_t now_ms, uint32_t budget_ms);

#endif
