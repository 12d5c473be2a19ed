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
/* With the gate held: removes the slots and FIFOs of dead processes. */
void waiters_enter(struct db *db);
/* Writes a byte to each process that waits for one of the called owners. Waits for no process. */
void waiters_call(struct db *db, const struct db_txn *txn);
/* Keeps this process's FIFO and slot, because it may only be swapping its build. */
void waiters_leave(struct db *db);

#endif
