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
  uint32_t last;  /* number of those that were brought */
  bool all;       /* there are no more */
  int64_t *alive; /* the locks of owners; NULL: they were not brought yet */
  size_t alive_count;
};
/* *ret_session NULL: it is not one of a list, or is not there. 0, or the engine's error. */
int pg_scan_find(struct db_txn *txn, uint32_t number, struct pg_session **ret_session);
/* Within a list: whether an owner is alive is known. */
bool pg_scan_knows_alive(int64_t lock, bool *ret_alive);
void pg_scan_free(struct pg_scan *scan);

#endif
