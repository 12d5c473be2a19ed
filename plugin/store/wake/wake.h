/* SPDX-License-Identifier: MIT
 *
 * store/wake/wake.h: the waiting side of a ring: a process that sleeps until another process has
 * committed something that needs an action now. The committing process calls store_ring (store.h).
 * A ring is two things: a counter of its session's that moves with the commit, and after it a byte
 * in the FIFO of each process that waits for the session's owner. The byte may be lost (its writer
 * was killed), the counter never is. It must not know what rings mean.
 */
#ifndef STORE_WAKE_WAKE_H
#define STORE_WAKE_WAKE_H

#include "store/db/limits.h"
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

/* What this process knows of the counters. */
struct rings {
  _Atomic uint32_t seen[STORE_RINGS]; /* the values that it knows */
  uint32_t seen_groups[RING_GROUPS];  /* where all of a group was seen */
  /* As last looked at: */
  uint32_t now[STORE_RINGS]; /* of groups that had moved */
  uint32_t groups[RING_GROUPS];
  uint64_t moved[RING_GROUPS]; /* a bit for each of a group */
  uint64_t odd[RING_GROUPS];
};
/* Which have moved since they were last marked as known; *ret_rings NULL: none. They are the
 * store's, until the next look. Take the snapshot that is asked about the sessions after this. Not
 * for two threads at once. Errors: NOMEM, STORE (the store was deleted while in use). */
int rings_look(struct store *store, const struct rings **ret_rings, struct tidings_error *error);
static inline bool ring_moved(const struct rings *rings, uint32_t ring) {
  return rings->moved[ring / RING_GROUP] >> (ring % RING_GROUP) & 1;
}
/* What was looked at is known from now on. Without this it is found again. */
void rings_mark_seen(struct store *store);

#endif
