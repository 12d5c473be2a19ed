/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/ring.h: the ringing side of db/wake.h.
 */
#ifndef STORE_DB_LMDB_RING_H
#define STORE_DB_LMDB_RING_H

#include "store/db/lmdb/engine.h"
#include "store/db/wake.h"

/* -- rings.c: what db_commit does for sessions that ring -- */

void rings_begin(struct db_txn *txn); /* odd, before the commit */
void rings_end(struct db_txn *txn);   /* even, after it, still under the writer lock */

/* -- waiters.c -- */

void waiters_init(struct db *db); /* before anything else */
/* With the gate held: removes slots and FIFOs of dead processes. */
void waiters_enter(struct db *db);
/* A byte to each process that waits for an owner that is called. Waits for no process. */
void waiters_call(struct db *db, const struct db_txn *txn);
/* The process's own FIFO and slot stay: it may only be changing its build. */
void waiters_leave(struct db *db);

#endif
