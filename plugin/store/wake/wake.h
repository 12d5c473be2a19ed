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
 * store_close; the FIFO that it refers to is the process's, for as long as it lives: a duplicate
 * still wakes when the store is opened again. Doing it again is cheap. A process that was a waiter
 * before the store was opened finds a byte in its FIFO. Errors: FULL, BUSY (the gate), STORE.
 */
int store_wait(struct store *store, const struct owner *owner, uint32_t budget_ms, int *ret_fd,
               struct tidings_error *error);
/* Is this process a waiter, by this opening of the store or an earlier one? */
bool store_waits(const struct store *store);

/* Empties the FIFO. Look for rings afterwards: one that comes meanwhile fills it again, so none is
 * missed. The calling thread is from now on the one that waits: its own commits do not wake it.
 */
void store_wait_drain(struct store *store);
/* Makes the FIFO readable again, because some rings have not been handled. */
void store_wait_again(struct store *store);

/* Finds the rings that have moved since they were last marked as seen, at least those of the
 * sessions of `owner`; *ret_rings NULL: none. They are the store's, until the next look. Take a
 * snapshot of the sessions after this. Not for two threads at once. Errors: BUSY (after the
 * deadline), NOMEM, STORE (the store was deleted while in use). */
int store_rings_look(struct store *store, const struct owner *owner, store_deadline deadline,
                     const struct rings **ret_rings, struct tidings_error *error);
/* Did a process ring, and may it still commit and end without calling this one again? Ask before
 * you take a snapshot: if not, the snapshot has its commit; else look again later. */
bool store_may_ring(struct store *store);
/* Marks the rings of the last look as seen. Without this they are found again. */
void store_rings_mark_seen(struct store *store);

#endif
