/* SPDX-License-Identifier: MIT
 *
 * store/wake/wake.h: the waiting side of a ring: a process that sleeps until another process has
 * committed something that needs an action now. The committing process calls store_ring (store.h).
 * It must not know what rings mean.
 */
#ifndef STORE_WAKE_WAKE_H
#define STORE_WAKE_WAKE_H

#include "store/db/wake.h"
#include "store/store.h"

/* Makes this process a waiter for the sessions of `owner`. *ret_fd is the store's, until
 * store_close; the FIFO that it refers to is the process's, for as long as it lives: who has a
 * duplicate goes on being woken when the store is opened again. Doing it again is cheap. One that
 * was a waiter before the store was opened finds a byte in its FIFO. Errors: FULL, BUSY (the gate),
 * STORE. */
int store_wait(struct store *store, const struct owner *owner, uint32_t budget_ms, int *ret_fd,
               struct tidings_error *error);
/* Is this process a waiter, by this opening of the store or an earlier one? */
bool store_waits(const struct store *store);

/* Empties the FIFO. What is looked at afterwards is not missed: a ring that comes meanwhile fills
 * it again. Says too that the calling thread is the one that waits: what it commits itself does not
 * wake it. */
void store_wait_drain(struct store *store);
/* Makes the FIFO readable: what was rung has not been dealt with. */
void store_wait_again(struct store *store);

/* Which have moved, of the sessions of `owner` at least, since they were last marked as known;
 * *ret_rings NULL: none. They are the store's, until the next look. Take the snapshot that is asked
 * about the sessions after this. Not for two threads at once. Errors: NOMEM, STORE (the store was
 * deleted while in use). */
int store_rings_look(struct store *store, const struct owner *owner, const struct rings **ret_rings,
                     struct tidings_error *error);
/* Did a process ring, and may it still commit and end without calling this one again? Who asks
 * before it takes a snapshot looks again later, or the snapshot has it. */
bool store_may_ring(struct store *store);
/* What was looked at is known from now on. Without this it is found again. */
void store_rings_mark_seen(struct store *store);

#endif
