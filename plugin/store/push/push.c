/* SPDX-License-Identifier: MIT
 *
 * store/push/push.c: pushes. A push is one put: the item's number is the newest one's + 1, the
 * quota is read from the head. The engine commits pushes that wait together in one transaction
 * (db_push).
 */
#include "store/db/wake.h"
#include "store/push/known.h"

enum { CRITICAL_SHARE = 20 /* one in so many is kept for criticals */ };

struct push_slot {
  struct db_push db; /* first */
  struct store *store;
  const struct push *push;
  struct buffer body; /* the item's record, without its checksum */
  int code;
  bool duplicate;
  struct tidings_error error; /* last: see slot_clear */
};

static void slot_clear(struct push_slot *slot) {
  memset(slot, 0, offsetof(struct push_slot, error));
  error_clear(&slot->error);
}

/* -- storing one slot in an open transaction --------------------------------------------------- */

static int check_quota(const struct push *push, const struct push_place *place,
                       struct tidings_error *error) {
  uint64_t limit = push->pending_limit;
  bool critical = push->note->level == TIDINGS_LEVEL_CRITICAL;
  if (!critical) limit -= limit / CRITICAL_SHARE;
  if (place->live >= limit)
    return fail(error, TIDINGS_E_FULL,
                "session %s has %llu notifications that wait; the limit is %u "
                "(limits.pending_per_session), of which the last %u are for "
                "critical ones",
                quote(push->session).text, (unsigned long long)place->live, push->pending_limit,
                push->pending_limit / CRITICAL_SHARE);
  if (place->last >= UINT32_MAX)
    return fail(error, TIDINGS_E_FULL,
                "session %s has had 4,294,967,295 notifications; open another",
                quote(push->session).text);
  return 0;
}

static int check_tools(struct store_txn *txn, uint32_t session, const struct push *push,
                       bool *ret_refused, struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  int code = tools_check(txn, session, push->note, &arena, ret_refused, error);
  arena_free(&arena);
  return code;
}

/* A critical notification passes, and so does the report of the assistant's own edit: that is never
 * shown, but without it a watcher's report of the same change would be. *ret_refused: the slot is
 * refused, and the transaction is sound. */
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
  int rc = db_put_room(txn->db, &key, slot->body.len + sizeof crc, &room);
  if (rc) return db_failed(&slot->error, rc, "write a notification");
  memcpy(room, slot->body.bytes, slot->body.len);
  memcpy((char *)room + slot->body.len, &crc, sizeof crc);
  return 0;
}

/* Finds the session, and whether the push has been stored in it before. */
static int find_place(struct store_txn *txn, struct push_slot *slot, const struct push_known *known,
                      struct push_place *ret_place) {
  const struct push *push = slot->push;
  const struct push_place *place = known ? push_known_find(known, push->session) : NULL;
  uint32_t session = place ? place->session : 0;
  int code = place ? 0 : session_add(txn, push->session, &session, &slot->error);
  slot->duplicate = false;
  if (!code && push->id.len)
    code = dedup_seen(txn, session, push->source, push->id, push->now_ms - push->dedup_window_ms,
                      push->now_ms + push->dedup_window_ms, &slot->duplicate, &slot->error);
  if (code || slot->duplicate) return code;
  if (!place) return push_place_read(txn, session, ret_place, &slot->error);
  *ret_place = *place;
  return 0;
}

/* Returns 0 if the transaction is still sound, whatever became of the slot; its code says that.
 * `known` NULL: the transaction has written other things. */
static int store_slot(struct store_txn *txn, struct push_slot *slot, struct push_known *known) {
  const struct push *push = slot->push;
  struct push_place place;
  slot->code = find_place(txn, slot, known, &place);
  if (slot->code || slot->duplicate) return slot->code;
  uint32_t session = place.session;
  slot->code = check_quota(push, &place, &slot->error);
  bool refused = slot->code;
  if (!refused && place.declares && !push->origin) /* a copy was checked when it was pushed */
    slot->code = check_tools(txn, session, push, &refused, &slot->error);
  if (!slot->code) slot->code = count_push(txn, session, push, &refused, &slot->error);
  if (refused) return 0;
  if (!slot->code) slot->code = put_item(txn, session, place.last + 1, slot);
  if (!slot->code) slot->code = outlines_note(txn, session, place.last + 1, &slot->error);
  if (!slot->code && push->id.len)
    slot->code = dedup_put(txn, session, push->source, push->id, push->now_ms,
                           push->dedup_window_ms, &slot->error);
  if (!slot->code && db_touch(txn->db, session))
    slot->code = fail(&slot->error, TIDINGS_E_STORE, "too many sessions in one transaction");
  if (slot->code) return slot->code;
  if (push->rings) db_ring(txn->db, session, &place.owner, slot->db.thread);
  place.last++;
  place.live++;
  if (known) push_known_set(known, push->session, &place);
  return 0;
}

/* -- a batch ----------------------------------------------------------------------------------- */

static enum db_batch store_each(struct db_push *batch, struct store_txn *txn) {
  struct tidings_error error;
  bool any = false;
  error_clear(&error);
  int code = meta_check(txn, &error);
  for (struct db_push *at = batch; at; at = at->next) {
    struct push_slot *slot = (struct push_slot *)(void *)at;
    if (code) {
      slot->error = error;
      at->code = code;
      continue;
    }
    bool broken = store_slot(txn, slot, &txn->store->known);
    at->code = slot->code;
    if (broken) return DB_BATCH_BROKEN;
    any = any || (!slot->code && !slot->duplicate);
  }
  return any ? DB_BATCH_STORED : DB_BATCH_UNCHANGED;
}

static enum db_batch store_batch(struct db_push *batch, struct db_txn *engine) {
  struct store *store = ((struct push_slot *)(void *)batch)->store;
  struct store_txn txn; /* without `own` */
  txn.store = store;
  txn.db = engine;
  txn.writing = true;
  txn.folded = 0;
  push_known_begin(&store->known, engine);
  enum db_batch outcome = store_each(batch, &txn);
  push_known_end(&store->known, engine, outcome == DB_BATCH_STORED);
  return outcome;
}

/* The bytes that one item may cost on disk: its record, rounded up to pages if it is large, and a
 * generous share of pages copied on write. */
static size_t cost(const struct push_slot *slot) {
  size_t pages = slot->push->source_per_minute ? 4 : 3;
  return pages * 4096 + 2 * slot->body.len;
}

static int run_slot(struct store *store, struct push_slot *slot, store_deadline deadline) {
  slot->db.bytes = cost(slot);
  slot->db.store = store_batch;
  slot->db.error = &slot->error;
  const struct push *push = slot->push;
  const struct notification *note = push->note;
  bool counts = note->level != TIDINGS_LEVEL_CRITICAL && !note->caused_by.len;
  slot->db.row = (struct db_inbox){.session = push->session,
                                   .source = push->source,
                                   .id = push->id,
                                   .body = buffer_view(&slot->body),
                                   .kind_source = note->source,
                                   .kind_name = note->name,
                                   .tool = note->tool,
                                   .now_ms = push->now_ms,
                                   .window_ms = push->dedup_window_ms,
                                   .pending_limit = push->pending_limit,
                                   .per_minute = counts ? push->source_per_minute : 0,
                                   .critical = notification_is_critical(note),
                                   .rings = push->rings,
                                   .checks_kind = !note->made_by};
  int code = db_push(store->db, &slot->db, deadline);
  slot->duplicate = slot->duplicate || slot->db.duplicate;
  return code;
}

int store_push(struct store *store, const struct push *push, store_deadline deadline,
               bool *ret_duplicate, bool *ret_full, struct tidings_error *error) {
  struct push_slot slot;
  if (push->note->activation == ACTIVATION_SILENT && store_has_older_builds(store))
    return fail(error, TIDINGS_E_STATE,
                "store %s takes no silent notifications as long as older builds may use it "
                "(docs/fleet.md: UPDATE .. SET schema)",
                db_place(store->db));
  slot_clear(&slot);
  slot.store = store;
  slot.push = push;
  slot.body = (struct buffer)BUFFER_EMPTY;
  item_encode(&slot.body, push->now_ms, push->note, push->origin);
  int code = slot.body.failed
                 ? fail(&slot.error, TIDINGS_E_NOMEM, "no memory for a notification's record")
                 : run_slot(store, &slot, deadline);
  buffer_free(&slot.body);
  if (code && ret_full) *ret_full = slot.db.disk_is_full;
  if (code) return fail(error, code, "%s", slot.error.text);
  *ret_duplicate = slot.duplicate;
  return 0;
}

int push_in(struct store_txn *txn, const struct push *push, struct tidings_error *error) {
  struct push anonymous = *push;
  anonymous.id = span_of(NULL, 0);
  struct push_slot slot = {.store = txn->store,
                           .push = &anonymous,
                           .body = BUFFER_EMPTY,
                           .db.thread = push->rings_caller ? 0 : (uintptr_t)pthread_self(),
                           .error = {.size = sizeof slot.error}};
  item_encode(&slot.body, push->now_ms, push->note, push->origin);
  if (slot.body.failed)
    slot.code = fail(&slot.error, TIDINGS_E_NOMEM, "no memory for a notification's record");
  else slot.code = db_reserve(txn->db, cost(&slot), &slot.error);
  if (!slot.code) (void)store_slot(txn, &slot, NULL);
  buffer_free(&slot.body);
  return slot.code ? fail(error, slot.code, "%s", slot.error.text) : 0;
}
