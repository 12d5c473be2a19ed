/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/scan.h: a read of many sessions.
 */
#ifndef STORE_DB_POSTGRES_SCAN_H
#define STORE_DB_POSTGRES_SCAN_H

#include "store/db/db.h"

struct pg_session;

struct pg_scan {
  struct pg_session **sessions; /* by their numbers */
  size_t count, capacity, misses;
  uint32_t last;  /* the highest number that was loaded */
  bool all;       /* there are no more */
  int64_t *alive; /* the locks of live owners; NULL: not loaded yet */
  size_t alive_count;
};
/* *ret_session NULL: the transaction is no list, or there is no such session. Returns 0, or the
 * engine's error. */
int pg_scan_find(struct db_txn *txn, uint32_t number, struct pg_session **ret_session);
/* True: a list has loaded whether the owner with this lock is alive. */
bool pg_scan_knows_alive(int64_t lock, bool *ret_alive);
void pg_scan_free(struct pg_scan *scan);

#endif
