/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/group.c: group commit. A commit costs a disk flush however much is in it, so pushes
 * whose callers wait for the writer lock at the same time are committed together. Each caller
 * queues its push, and the first caller leads: it takes the lock, then takes all pushes that wait
 * by now, stores them in one transaction, and tells each caller the result. A push is withdrawn
 * (BUSY) only while it waits. Once a leader has it, its caller waits for the result, as it would
 * for a commit of its own. Leader and followers are threads of one process and die together, so no
 * thread survives that takes a stored push for lost.
 */
#include <errno.h>
#include <time.h>

#include "common/error.h"
#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/files.h"

enum { BATCH_SLOTS = 512, BATCH_BYTES = 4 << 20 };

enum slot_state { SLOT_WAITING, SLOT_LEADS, SLOT_TAKEN, SLOT_DONE };

/* -- a batch ----------------------------------------------------------------------------------- */

/* Fails all pushes of a batch, because the cause is not one push alone. Duplicates fail as well,
 * because the push that they repeat may have been in this batch. */
static void fail_all(struct db_push *batch, int code, const struct tidings_error *error) {
  for (struct db_push *push = batch; push; push = push->next) {
    if (push->code) continue;
    push->code = code;
    if (push->error) *push->error = *error;
  }
}

/* Stores the batch in one transaction. The caller holds the writer lock, which this function gives
 * up. False: a push broke the transaction, nothing was stored, and each push is to be tried by
 * itself. */
static bool commit_batch(struct db *db, struct db_push *batch, uint64_t bytes,
                         store_deadline deadline) {
  struct tidings_error error;
  struct db_txn txn;
  error_clear(&error);
  db_txn_clear(&txn);
  struct db_push *push = batch;
  do push->code = 0;
  while ((push = push->next));
  int code = env_write(db, deadline, &txn, &error);
  if (code) {
    shared_writer_unlock(db);
    fail_all(batch, code, &error);
    return true;
  }
  code = datafile_reserve(db, bytes, &error);
  enum db_batch outcome = code ? DB_BATCH_UNCHANGED : batch->store(batch, &txn);
  if (outcome != DB_BATCH_STORED) {
    for (struct db_push *at = code ? batch : NULL; at; at = at->next)
      at->disk_is_full = db->disk_is_full;
    db_end(&txn);
    if (code) fail_all(batch, code, &error);
    return outcome == DB_BATCH_UNCHANGED || !batch->next;
  }
  code = db_commit(&txn, &error);
  if (code) fail_all(batch, code, &error);
  return true;
}

static void run_batch(struct db *db, struct db_push *batch, uint64_t bytes,
                      store_deadline deadline) {
  if (commit_batch(db, batch, bytes, deadline)) return;
  for (struct db_push *slot = batch; slot; slot = slot->next) {
    struct db_push *next = slot->next;
    slot->next = NULL;
    slot->code = shared_writer_lock(db, deadline, slot->error);
    if (!slot->code) (void)commit_batch(db, slot, slot->bytes, deadline);
    slot->next = next;
  }
}

/* -- the queue --------------------------------------------------------------------------------- */

/* Makes the condition variable wait by the clock of deadlines. */
static void begin_changed(struct db_push *slot) {
  pthread_condattr_t attributes;
  (void)pthread_condattr_init(&attributes);
  (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&slot->changed, &attributes);
  (void)pthread_condattr_destroy(&attributes);
}

static void enqueue(struct db *db, struct db_push *slot) {
  if (db->group.last) db->group.last->next = slot;
  else db->group.first = slot;
  db->group.last = slot;
}

static void withdraw(struct db *db, struct db_push *slot) {
  struct db_push *before = NULL;
  for (struct db_push *at = db->group.first; at != slot; at = at->next) before = at;
  if (before) before->next = slot->next;
  else db->group.first = slot->next;
  if (db->group.last == slot) db->group.last = before;
  slot->next = NULL;
}

/* Takes the pushes that wait, and the leader's own, wherever it is in the queue. */
static struct db_push *take_batch(struct db *db, struct db_push *leader, uint64_t *ret_bytes) {
  struct db_push *last = leader;
  size_t count = 1;
  uint64_t bytes = leader->bytes;
  withdraw(db, leader);
  leader->state = SLOT_TAKEN;
  while (db->group.first && count < BATCH_SLOTS && count < TOUCHED_SESSIONS &&
         bytes < BATCH_BYTES) {
    struct db_push *slot = db->group.first;
    withdraw(db, slot);
    slot->state = SLOT_TAKEN;
    last->next = slot;
    last = slot;
    bytes += slot->bytes;
    count++;
  }
  *ret_bytes = bytes;
  return leader;
}

static void finish_batch(struct db *db, struct db_push *batch, const struct db_push *leader) {
  while (batch) {
    struct db_push *next = batch->next;
    batch->state = SLOT_DONE;
    if (batch != leader) /* after the unlock its caller may be gone */
      pthread_cond_signal(&batch->changed);
    batch = next;
  }
  db->group.led = db->group.first != NULL;
  if (db->group.led) {
    db->group.first->state = SLOT_LEADS;
    pthread_cond_signal(&db->group.first->changed);
  }
}

/* Is called with the group's lock held, and returns with it. Waits for the writer lock first; all
 * pushes that have been queued by then share the commit. */
static void lead(struct db *db, struct db_push *slot, store_deadline deadline) {
  struct db_push *batch;
  uint64_t bytes;
  pthread_mutex_unlock(&db->group.lock);
  int code = shared_writer_lock(db, deadline, slot->error);
  pthread_mutex_lock(&db->group.lock);
  if (code) {
    withdraw(db, slot);
    slot->code = code;
    finish_batch(db, slot, slot);
    return;
  }
  batch = take_batch(db, slot, &bytes);
  pthread_mutex_unlock(&db->group.lock);
  run_batch(db, batch, bytes, deadline);
  pthread_mutex_lock(&db->group.lock);
  finish_batch(db, batch, slot);
}

static void wait_turn(struct db *db, struct db_push *slot, store_deadline deadline) {
  struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000u),
                           .tv_nsec = (long)(deadline % 1000000000u)};
  while (slot->state == SLOT_WAITING || slot->state == SLOT_TAKEN) {
    if (slot->state == SLOT_TAKEN) {
      pthread_cond_wait(&slot->changed, &db->group.lock);
    } else if (pthread_cond_timedwait(&slot->changed, &db->group.lock, &until) == ETIMEDOUT &&
               slot->state == SLOT_WAITING) {
      withdraw(db, slot);
      slot->state = SLOT_DONE;
      slot->code = fail(slot->error, TIDINGS_E_BUSY,
                        "store %s: another writer holds it; the push was not stored, try again",
                        db->directory);
    }
  }
}

int db_push(struct db *db, struct db_push *slot, store_deadline deadline) {
  slot->thread = (uintptr_t)pthread_self();
  slot->state = SLOT_WAITING;
  begin_changed(slot);
  pthread_mutex_lock(&db->group.lock);
  enqueue(db, slot);
  if (!db->group.led) {
    db->group.led = true;
    slot->state = SLOT_LEADS;
  }
  wait_turn(db, slot, deadline);
  if (slot->state == SLOT_LEADS) lead(db, slot, deadline);
  pthread_mutex_unlock(&db->group.lock);
  pthread_cond_destroy(&slot->changed);
  return slot->code;
}
