/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/locks.c: the locks in the file `shared`. Two of these locks stand before LMDB's own
 * two locks, for which LMDB waits without a limit: a process that is stopped while it holds one
 * would stop all others. So a process takes a lock of LMDB's only while it holds the lock here. The
 * other locks are for the calls of tools (places.c).
 *
 * LMDB's writer mutex is taken when a write begins, and kept until it ends. Its mutex for the table
 * of readers is taken for a new slot, for clearing the slots of dead readers, and in a write that
 * begins after a writer died. Opening an environment waits for a process that has lock.mdb to
 * itself: one that opens it as the first, or (since 0.9.31) that closes it as the last.
 */
#include <errno.h>

#include "common/error.h"
#include "common/libc.h"
#include "store/db/lmdb/engine.h"

enum { SLICE_MS = 10 };

int locks_make(struct db *db, struct tidings_error *error) {
  struct shared_page *page = db->shared.page;
  int err = places_make_lock(&page->writer);
  if (!err) err = places_make_lock(&page->readers);
  if (!err) err = places_make_locks(&db->shared.places);
  atomic_store(&page->writer_died, 0);
  return err ? fail(error, TIDINGS_E_STORE, "store %s: its locks cannot be made: %s", db->directory,
                    strerror(err))
             : 0;
}

/* Waits in short slices: if a process is killed after it was woken and before it takes the lock,
 * nobody wakes the others, although the lock is free. */
static int wait_for_lock(pthread_mutex_t *lock, store_deadline deadline) {
  for (;;) {
    store_deadline slice = store_deadline_in(SLICE_MS);
    if (slice > deadline) slice = deadline;
    int err = libc_lock_until(lock, slice);
    if (err != ETIMEDOUT || slice == deadline) return err;
  }
}

/* `died` is set before the lock can be taken again, so that the next holder sees that a process
 * died while it held the lock. */
static int recover(pthread_mutex_t *lock, int err, _Atomic uint32_t *died) {
  if (err != EOWNERDEAD) return err;
  if (died) atomic_store(died, 1);
  return pthread_mutex_consistent(lock);
}

int shared_writer_lock(struct db *db, store_deadline deadline, struct tidings_error *error) {
  struct shared_page *page = db->shared.page;
  int err = pthread_mutex_trylock(&page->writer);
  if (err == EBUSY) err = wait_for_lock(&page->writer, deadline);
  err = recover(&page->writer, err, &page->writer_died);
  if (!err) return 0;
  if (err == ETIMEDOUT)
    return fail(error, TIDINGS_E_BUSY,
                "store %s: another writer holds it; nothing was lost, try again", db->directory);
  return fail(error, TIDINGS_E_STORE, "store %s: the writer lock failed: %s", db->directory,
              strerror(err));
}

bool shared_writer_try(struct db *db) {
  struct shared_page *page = db->shared.page;
  return !recover(&page->writer, pthread_mutex_trylock(&page->writer), &page->writer_died);
}

void shared_writer_unlock(struct db *db) { pthread_mutex_unlock(&db->shared.page->writer); }

int readers_lock(struct db *db, store_deadline deadline) {
  pthread_mutex_t *readers = &db->shared.page->readers;
  int err = pthread_mutex_trylock(readers);
  if (err == EBUSY) err = wait_for_lock(readers, deadline);
  return recover(readers, err, NULL);
}

void readers_unlock(struct db *db) { pthread_mutex_unlock(&db->shared.page->readers); }
