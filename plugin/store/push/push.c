/* SPDX-License-Identifier: MIT
 *
 * store/push/push.c: group commit. A commit costs a disk flush however much is in it, so callers
 * that wait for the writer lock at the same time are committed together: each queues a slot; the
 * first leads: it takes the lock, then all slots that wait by then, stores them in one transaction
 * and says to each how it went. A slot is withdrawn (BUSY) only while it waits; once a leader has
 * it, its caller waits for the outcome, as it would for a commit of its own. Leader and followers
 * are threads of one process and die together, so no batch can be stored that a living
 * thread believes lost.
 *
 * A push is one put: the item's number is the newest one's + 1, the quota is read from the head.
 */
#include <errno.h>
#include <time.h>

#include "store/db/files.h"
#include "store/rows/rows.h"
#include "store/wake/ring.h"

enum {
  BATCH_SLOTS = 512,
  BATCH_BYTES = 4 << 20,
  CRITICAL_SHARE = 20 /* one in so many is kept for criticals */
};

enum slot_state { SLOT_WAITING, SLOT_LEADS, SLOT_TAKEN, SLOT_DONE };

struct push_slot {
  const struct push *push;
  struct buffer body; /* the item's record, without its checksum */
  struct push_slot *next;
  pthread_cond_t changed;
  enum slot_state state;
  uintptr_t thread; /* its caller's */
  int code;
  bool duplicate;
  struct tidings_error error;
};

/* -- storing one slot in an open transaction --------------------------------------------------- */

/* Items that have not ended, leased ones included: a rollback may bring them all back. */
static uint64_t count_live(const struct head *head, uint64_t last) {
  uint64_t live = last >= head->watermark ? last - head->watermark + 1 : 0;
  for (size_t i = 0; i < head->taken_count; i++) {
    if (!head->taken[i].delivery) live -= head->taken[i].last - head->taken[i].first + 1;
  }
  return live;
}

static int check_quota(const struct push *push, const struct head *head, uint64_t last,
                       struct tidings_error *error) {
  uint64_t live = count_live(head, last), limit = push->pending_limit;
  bool critical = push->note->level == TIDINGS_LEVEL_CRITICAL;
  if (!critical) limit -= limit / CRITICAL_SHARE;
  if (live < limit) return 0;
  return fail(error, TIDINGS_E_FULL,
              "session %s has %llu notifications that wait; the limit is %u "
              "(limits.pending_per_session), of which the last %u are for "
              "critical ones",
              quote(push->session).text, (unsigned long long)live, push->pending_limit,
              push->pending_limit / CRITICAL_SHARE);
}

/* What is critical passes, and the report of an edit of the assistant's own: that is never shown,
 * and without it a watcher's report of the same change would be. *ret_refused: the slot is refused,
 * and the transaction is sound. */
static int count_push(struct store_txn *txn, uint32_t session, const struct push *push,
                      bool *ret_refused, struct tidings_error *error) {
  int64_t wait_ms = 0;
  bool passes = push->note->level == TIDINGS_LEVEL_CRITICAL || push->note->caused_by.len;
  if (!push->source_per_minute || passes) return 0;
  int code = rate_take(txn, session, push->note->source, push->now_ms, push->source_per_minute,
                       &wait_ms, error);
  if (code || !wait_ms) return code;
  *ret_refused = true;
  return fail(error, TIDINGS_E_FULL,
              "session %s: source %s has pushed %u notifications in a minute, which is the limit "
              "(limits.source_per_minute); wait %lld s",
              quote(push->session).text, quote(push->note->source).text, push->source_per_minute,
              (long long)((wait_ms + 999) / 1000));
}

static int put_item(struct store_txn *txn, uint32_t session, uint64_t n, struct push_slot *slot) {
  struct db_key key = row_key(session, ROW_ITEM, n);
  uint32_t crc = record_crc(&key, buffer_view(&slot->body));
  void *room;
  int rc = db_put_room(&txn->db, &key, slot->body.len + sizeof crc, &room);
  if (rc) return db_failed(&slot->error, rc, "write a notification");
  memcpy(room, slot->body.bytes, slot->body.len);
  memcpy((char *)room + slot->body.len, &crc, sizeof crc);
  return 0;
}

/* Returns 0 if the transaction is still sound, whatever became of the slot; its code says that. */
static int store_slot(struct store_txn *txn, struct push_slot *slot) {
  const struct push *push = slot->push;
  struct arena arena = ARENA_EMPTY;
  struct head head;
  uint32_t session;
  uint64_t last;
  slot->duplicate = false;
  slot->code = session_add(txn, push->session, &session, &slot->error);
  if (!slot->code && push->id.len) {
    slot->code = dedup_seen(txn, session, push->source, push->id,
                            push->now_ms - push->dedup_window_ms, &slot->duplicate, &slot->error);
  }
  if (slot->code || slot->duplicate) return slot->code;
  slot->code = head_get(txn, session, &arena, &head, &slot->error);
  if (!slot->code) slot->code = item_last(txn, session, &head, &last, &slot->error);
  if (slot->code) goto out;
  slot->code = check_quota(push, &head, last, &slot->error);
  if (!slot->code && last >= UINT32_MAX)
    slot->code = fail(&slot->error, TIDINGS_E_FULL,
                      "session %s has had 4,294,967,295 notifications; open another",
                      quote(push->session).text);
  bool refused = slot->code;
  if (!refused && !push->origin) /* a copy was checked when it was pushed */
    slot->code = tools_check(txn, session, push->note, &arena, &refused, &slot->error);
  if (!slot->code) slot->code = count_push(txn, session, push, &refused, &slot->error);
  if (refused) {
    arena_free(&arena);
    return 0;
  }
  if (!slot->code) slot->code = put_item(txn, session, last + 1, slot);
  if (!slot->code && push->id.len)
    slot->code = dedup_put(txn, session, push->source, push->id, push->now_ms,
                           push->dedup_window_ms, &slot->error);
  if (!slot->code && txn_touch(txn, session))
    slot->code = fail(&slot->error, TIDINGS_E_STORE, "too many sessions in one transaction");
  if (!slot->code && push->rings) rings_ring_for(txn, session, &head.owner, slot->thread);
out:
  arena_free(&arena);
  return slot->code;
}

/* -- a batch ----------------------------------------------------------------------------------- */

static void fail_all(struct push_slot *batch, int code, const struct tidings_error *error) {
  for (struct push_slot *slot = batch; slot; slot = slot->next) {
    slot->code = code;
    slot->error = *error;
  }
}

/* With the writer lock held, which is given up. Stores the batch in one transaction. False: a slot
 * broke the transaction, nothing was stored, and each is to be tried by itself. */
static bool commit_batch(struct store *store, struct push_slot *batch, size_t bytes,
                         store_deadline deadline) {
  struct tidings_error error = {.size = sizeof error};
  struct store_txn *txn;
  bool any = false;
  int code = txn_write_locked(store, deadline, &txn, &error);
  if (!code) {
    code = datafile_reserve(&store->db, bytes, &error);
    if (code) store_end(txn);
  }
  if (code) {
    fail_all(batch, code, &error);
    return true;
  }
  for (struct push_slot *slot = batch; slot; slot = slot->next) {
    if (store_slot(txn, slot)) {
      store_end(txn);
      return !batch->next;
    }
    any = any || (!slot->code && !slot->duplicate);
  }
  if (!any) {
    store_end(txn);
    return true;
  }
  code = store_commit(txn, &error);
  /* Duplicates fail as well: what they are a duplicate of may have been in this batch. */
  for (struct push_slot *slot = batch; code && slot; slot = slot->next) {
    if (slot->code) continue;
    slot->code = code;
    slot->error = error;
  }
  return true;
}

/* What one item may cost on disk: its record, rounded up to pages if it is large, and a generous
 * share of pages copied on write. */
static size_t cost(const struct push_slot *slot) {
  size_t pages = slot->push->source_per_minute ? 4 : 3;
  return pages * 4096 + 2 * slot->body.len;
}

static void run_batch(struct store *store, struct push_slot *batch, size_t bytes,
                      store_deadline deadline) {
  if (commit_batch(store, batch, bytes, deadline)) return;
  for (struct push_slot *slot = batch; slot; slot = slot->next) {
    struct push_slot *next = slot->next;
    slot->next = NULL;
    slot->code = shared_writer_lock(&store->db, deadline, &slot->error);
    if (!slot->code) (void)commit_batch(store, slot, cost(slot), deadline);
    slot->next = next;
  }
}

/* -- the queue --------------------------------------------------------------------------------- */

/* Its clock is that of deadlines. */
static void begin_changed(struct push_slot *slot) {
  pthread_condattr_t attributes;
  (void)pthread_condattr_init(&attributes);
  (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&slot->changed, &attributes);
  (void)pthread_condattr_destroy(&attributes);
}

static void enqueue(struct store *store, struct push_slot *slot) {
  if (store->group.last) store->group.last->next = slot;
  else store->group.first = slot;
  store->group.last = slot;
}

static void withdraw(struct store *store, struct push_slot *slot) {
  struct push_slot *before = NULL;
  for (struct push_slot *at = store->group.first; at != slot; at = at->next) before = at;
  if (before) before->next = slot->next;
  else store->group.first = slot->next;
  if (store->group.last == slot) store->group.last = before;
  slot->next = NULL;
}

/* Takes what waits, the leader's own slot first in line or not. */
static struct push_slot *take_batch(struct store *store, struct push_slot *leader,
                                    size_t *ret_bytes) {
  struct push_slot *last = leader;
  size_t count = 1, bytes = cost(leader);
  withdraw(store, leader);
  leader->state = SLOT_TAKEN;
  while (store->group.first && count < BATCH_SLOTS && count < TOUCHED_SESSIONS &&
         bytes < BATCH_BYTES) {
    struct push_slot *slot = store->group.first;
    withdraw(store, slot);
    slot->state = SLOT_TAKEN;
    last->next = slot;
    last = slot;
    bytes += cost(slot);
    count++;
  }
  *ret_bytes = bytes;
  return leader;
}

static void finish_batch(struct store *store, struct push_slot *batch,
                         const struct push_slot *leader) {
  while (batch) {
    struct push_slot *next = batch->next;
    batch->state = SLOT_DONE;
    if (batch != leader) /* its caller may be gone after the unlock; not before */
      pthread_cond_signal(&batch->changed);
    batch = next;
  }
  store->group.led = store->group.first != NULL;
  if (store->group.led) {
    store->group.first->state = SLOT_LEADS;
    pthread_cond_signal(&store->group.first->changed);
  }
}

/* Called and returns with group_lock held. First waits for the writer lock, then looks who else has
 * come: they share the commit. */
static void lead(struct store *store, struct push_slot *slot, store_deadline deadline) {
  struct push_slot *batch;
  size_t bytes;
  pthread_mutex_unlock(&store->group.lock);
  int code = shared_writer_lock(&store->db, deadline, &slot->error);
  pthread_mutex_lock(&store->group.lock);
  if (code) {
    withdraw(store, slot);
    slot->code = code;
    finish_batch(store, slot, slot);
    return;
  }
  batch = take_batch(store, slot, &bytes);
  pthread_mutex_unlock(&store->group.lock);
  run_batch(store, batch, bytes, deadline);
  pthread_mutex_lock(&store->group.lock);
  finish_batch(store, batch, slot);
}

static void wait_turn(struct store *store, struct push_slot *slot, store_deadline deadline) {
  struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000u),
                           .tv_nsec = (long)(deadline % 1000000000u)};
  while (slot->state == SLOT_WAITING || slot->state == SLOT_TAKEN) {
    if (slot->state == SLOT_TAKEN) {
      pthread_cond_wait(&slot->changed, &store->group.lock);
    } else if (pthread_cond_timedwait(&slot->changed, &store->group.lock, &until) == ETIMEDOUT &&
               slot->state == SLOT_WAITING) {
      withdraw(store, slot);
      slot->state = SLOT_DONE;
      slot->code = fail(&slot->error, TIDINGS_E_BUSY,
                        "store %s: another writer holds it; the push was not stored, try again",
                        store->db.directory);
    }
  }
}

static int run_slot(struct store *store, struct push_slot *slot, store_deadline deadline) {
  pthread_mutex_lock(&store->group.lock);
  enqueue(store, slot);
  if (!store->group.led) {
    store->group.led = true;
    slot->state = SLOT_LEADS;
  }
  wait_turn(store, slot, deadline);
  if (slot->state == SLOT_LEADS) lead(store, slot, deadline);
  pthread_mutex_unlock(&store->group.lock);
  return slot->code;
}

int store_push(struct store *store, const struct push *push, store_deadline deadline,
               bool *ret_duplicate, struct tidings_error *error) {
  struct push_slot slot = {.push = push,
                           .body = BUFFER_EMPTY,
                           .thread = (uintptr_t)pthread_self(),
                           .error = {.size = sizeof slot.error}};
  begin_changed(&slot);
  item_encode(&slot.body, push->now_ms, push->note, push->origin);
  int code = slot.body.failed
                 ? fail(&slot.error, TIDINGS_E_NOMEM, "no memory for a notification's record")
                 : run_slot(store, &slot, deadline);
  pthread_cond_destroy(&slot.changed);
  buffer_free(&slot.body);
  if (code) return fail(error, code, "%s", slot.error.text);
  *ret_duplicate = slot.duplicate;
  return 0;
}

int push_in(struct store_txn *txn, const struct push *push, struct tidings_error *error) {
  struct push anonymous = *push;
  anonymous.id = span_of(NULL, 0);
  struct push_slot slot = {.push = &anonymous,
                           .body = BUFFER_EMPTY,
                           .thread = (uintptr_t)pthread_self(),
                           .error = {.size = sizeof slot.error}};
  item_encode(&slot.body, push->now_ms, push->note, push->origin);
  if (slot.body.failed)
    slot.code = fail(&slot.error, TIDINGS_E_NOMEM, "no memory for a notification's record");
  else slot.code = datafile_reserve(&txn->store->db, cost(&slot), &slot.error);
  if (!slot.code) (void)store_slot(txn, &slot);
  buffer_free(&slot.body);
  return slot.code ? fail(error, slot.code, "%s", slot.error.text) : 0;
}
