/* SPDX-License-Identifier: MIT
 *
 * store/forget/purge.c: removes what is left of closed sessions, which is only their name and head.
 * A process does this at open if it is alone, because every process remembers sessions by their
 * numbers for as long as it has the store open.
 */
#include "store/forget/sweep.h"

enum { PURGED_AT_ONCE = 64, LOOK_AT_NAMES = 256 };

struct closed_session {
  uint64_t name; /* the n of its name's row */
  uint32_t number;
};

struct closed_sessions {
  struct closed_session list[PURGED_AT_ONCE];
  size_t count;
  uint64_t name; /* the name row at which to continue; 0: all names were looked at */
};

/* -- finding them, in a snapshot. 0, or the engine's error ------------------------------------- */

static int is_purgeable(struct store_txn *txn, uint32_t session, int64_t now_ms,
                        bool *ret_purgeable) {
  struct arena arena = ARENA_EMPTY;
  struct head head;
  struct visit visit = {
      .txn = txn, .session = session, .head = &head, .now_ms = now_ms, .arena = &arena};
  int rc = 0;
  *ret_purgeable = false;
  if (!head_get(txn, session, &arena, &head, NULL) &&
      !item_last(txn, session, &head, &visit.last, NULL)) {
    rc = visit_begin(&visit);
    if (!rc) {
      rc = visit_is_purgeable(&visit, ret_purgeable);
      visit_end(&visit);
    }
  }
  arena_free(&arena);
  return rc;
}

/* Returns the number of the session that the name row under the cursor names; 0: the row is
 * damaged. */
static uint32_t session_of_name(const struct db_cursor *cursor) {
  struct db_key key = row_key(0, ROW_NAME, row_key_n(cursor->key));
  struct record_reader reader;
  if (!record_open(&reader, &key, cursor->value)) return 0;
  uint64_t number = record_read_u64(&reader);
  return reader.bad || number > UINT32_MAX ? 0 : (uint32_t)number;
}

/* Names that collide are found one after the other, so a name that has another one after it must
 * stay. */
static bool has_successor(struct store_txn *txn, uint64_t name) {
  struct db_key key = row_key(0, ROW_NAME, name + 1);
  struct tidings_span value;
  return row_get(txn, &key, &value) || value.ptr;
}

static int find_closed(struct store_txn *txn, int64_t now_ms, struct closed_sessions *closed) {
  struct db_key from = row_key(0, ROW_NAME, closed->name);
  struct db_cursor cursor;
  bool all = false;
  int rc = db_cursor_open(txn->db, &cursor);
  if (rc) return rc;
  rc = db_cursor_seek(&cursor, &from);
  for (int i = 0; !rc && i < LOOK_AT_NAMES && closed->count < PURGED_AT_ONCE; i++) {
    all = !row_key_is_like(cursor.key, &from);
    if (all) break;
    uint64_t name = row_key_n(cursor.key);
    uint32_t session = session_of_name(&cursor);
    bool purgeable = false;
    if (session) rc = is_purgeable(txn, session, now_ms, &purgeable);
    if (!rc && purgeable && !has_successor(txn, name))
      closed->list[closed->count++] = (struct closed_session){name, session};
    closed->name = name + 1;
    if (!rc) rc = db_cursor_next(&cursor);
  }
  db_cursor_close(&cursor);
  if (all) closed->name = 0;
  return rc;
}

static int has_sessions(struct store_txn *txn, bool *ret_has) {
  struct db_key first = row_key(1, 0, 0);
  struct db_cursor cursor;
  int rc = db_cursor_open(txn->db, &cursor);
  if (rc) return rc;
  rc = db_cursor_seek(&cursor, &first);
  if (!rc) *ret_has = cursor.key != NULL;
  db_cursor_close(&cursor);
  return rc;
}

static int find_work(struct store *store, int64_t now_ms, store_deadline deadline,
                     struct sweep *ret_sweep, struct closed_sessions *closed, bool *ret_anything,
                     struct tidings_error *error) {
  struct store_txn *txn;
  int code = store_read(store, NULL, deadline, &txn, error);
  if (code) return code;
  int rc = sweep_get(txn, ret_sweep);
  if (!rc) {
    closed->name = ret_sweep->name;
    if (ret_sweep->purgeable) rc = find_closed(txn, now_ms, closed);
  }
  *ret_anything = !rc && (ret_sweep->purgeable || !sweep_rests(ret_sweep, now_ms));
  if (*ret_anything) rc = has_sessions(txn, ret_anything);
  store_end(txn);
  return rc ? db_failed(error, rc, "look for rows to purge") : 0;
}

/* -- deleting them ----------------------------------------------------------------------------- */

static int purge(struct store_txn *txn, const struct closed_sessions *closed,
                 struct tidings_error *error) {
  int rc = 0;
  for (size_t i = 0; !rc && i < closed->count; i++) {
    struct db_key name = row_key(0, ROW_NAME, closed->list[i].name);
    struct db_key head = row_key(closed->list[i].number, ROW_HEAD, 0);
    rc = db_delete(txn->db, &name);
    if (!rc) rc = db_delete(txn->db, &head);
  }
  return rc ? db_failed(error, rc, "purge a closed session") : 0;
}

static int purge_and_sweep(struct store *store, int64_t now_ms, store_deadline deadline,
                           struct tidings_error *error) {
  struct closed_sessions closed = {.count = 0};
  struct store_txn *txn;
  struct sweep sweep;
  bool anything = false;
  int code = find_work(store, now_ms, deadline, &sweep, &closed, &anything, error);
  if (code || !anything) return code;
  code = store_write(store, NULL, deadline, &txn, error);
  if (code) return code;
  if (sweep.purgeable) {
    sweep.name = closed.name;
    if (!closed.name) sweep.purgeable = 0;
    code = purge(txn, &closed, error);
    if (!code) code = sweep_put(txn, &sweep, error);
  }
  if (!code) code = store_sweep(txn, 0, now_ms, error);
  if (!code) return store_commit(txn, error);
  store_end(txn);
  return code;
}

void purge_run(struct store *store, int64_t now_ms, store_deadline deadline) {
  struct tidings_error error = {.size = sizeof error};
  if (purge_and_sweep(store, now_ms, deadline, &error))
    db_log(store->db, TIDINGS_LOG_WARNING, "store: nothing was purged: %s", error.text);
}
