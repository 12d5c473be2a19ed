/* SPDX-License-Identifier: MIT
 *
 * store/db/wake.h: what the processes of a store learn from each other besides its rows: that a
 * session has changed, in which phase its turn is, and that its owner must act now.
 *
 * A ring is two things: a counter of its session that grows with the commit, and a byte in the FIFO
 * of each process that waits for the session's owner, once before the commit and once after it. If
 * its writer is killed between them, the first byte has woken the process, which finds the counter
 * odd and looks again until it is even. So a process that waits needs no clock. This header must
 * not know what rings mean.
 */
#ifndef STORE_DB_WAKE_H
#define STORE_DB_WAKE_H

#include "store/db/db.h"
#include "values/memory.h"

/* -- changes, phases: see store.h -------------------------------------------------------------- */

const _Atomic uint32_t *db_changes(struct db *db, uint32_t session);

int db_phase(struct db *db, uint32_t session, uint64_t epoch, uint64_t *ret_word);
bool db_phase_set(struct db *db, uint32_t session, uint64_t epoch, const struct owner *owner,
                  unsigned phase);
void db_phase_replace(struct db *db, uint32_t session, uint64_t epoch, uint64_t word, int phase);

/* -- the calls that run: see store.h ----------------------------------------------------------- */

/* Names the calls that a session's owner has reported under this epoch. With `owner` NULL they are
 * only read.
 */
struct calls_of {
  uint32_t session;
  uint64_t epoch;
  const struct owner *owner;
  int64_t now_ms;
};
/* Text is valid during the call. Returns whether it has changed them. */
typedef bool (*calls_visitor)(void *context, struct memory *calls);
bool db_calls(struct db *db, const struct calls_of *whose, calls_visitor visit, void *context);
bool db_calls_any(struct db *db, uint32_t session);
void db_calls_forget(struct db *db, uint32_t session);

/* -- rings ------------------------------------------------------------------------------------- */

/* On behalf of `thread`: see store_ring. */
void db_ring(struct db_txn *txn, uint32_t session, const struct owner *owner, uintptr_t thread);

/* Makes this process a waiter for the sessions of `owner`: see store_wait. */
int db_wait(struct db *db, const struct owner *owner, uint32_t budget_ms, int *ret_fd,
            struct tidings_error *error);
bool db_waits(const struct db *db);
void db_wait_drain(struct db *db);
void db_wait_again(struct db *db);

/* The values of the counters that this process saw last. */
struct rings {
  _Atomic uint32_t seen[STORE_RINGS]; /* the values that it knows */
  uint32_t seen_groups[RING_GROUPS];  /* the counters of groups that were seen completely */
  /* As of the last look: */
  uint32_t now[STORE_RINGS]; /* of groups that had moved */
  uint32_t groups[RING_GROUPS];
  uint64_t moved[RING_GROUPS]; /* a bit for each ring of a group */
  _Atomic uint64_t odd[RING_GROUPS];
};
/* Looks at least at the rings of the sessions of `owner`. */
int db_rings_look(struct db *db, const struct owner *owner, store_deadline deadline,
                  const struct rings **ret_rings, struct tidings_error *error);
static inline bool ring_moved(const struct rings *rings, uint32_t ring) {
  return rings->moved[ring / RING_GROUP] >> (ring % RING_GROUP) & 1;
}
void db_rings_mark_seen(struct db *db);
/* As of the last look: has a process called this one that may still commit, and then end without
 * calling again? Ask before a snapshot: if the answer is no, the snapshot has what that process
 * committed. */
bool db_may_ring(struct db *db);

#endif
