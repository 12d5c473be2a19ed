/* SPDX-License-Identifier: MIT
 *
 * store/wake/ring.h: the ringing side of wake.h, for the folders inside store/.
 */
#ifndef STORE_WAKE_RING_H
#define STORE_WAKE_RING_H

#include "store/handle.h"
#include "store/wake/wake.h"

/* -- rings.c: what store_commit does for sessions that ring -- */

void rings_begin(struct store_txn *txn); /* odd, before the commit */
void rings_end(struct store_txn *txn);   /* even, after it, still under the writer lock */
/* store_ring on behalf of another thread. */
void rings_ring_for(struct store_txn *txn, uint32_t session, const struct owner *owner,
                    uintptr_t thread);

/* -- waiters.c -- */

void waiters_init(struct store *store); /* before anything else */
/* With the gate held: removes slots and FIFOs of dead processes. */
void waiters_enter(struct store *store);
/* A byte to each process that waits for an owner that is called. No lock of other processes is
 * held. */
void waiters_call(struct store *store, const struct store_txn *txn);
/* The process's own FIFO and slot stay: it may only be changing its build. */
void waiters_leave(struct store *store);

#endif
