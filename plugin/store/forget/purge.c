/* SPDX-License-Identifier: MIT
 *
 * store/forget/purge.c: the end of closed sessions, of which only name and head are left. Done at
 * open by whoever is alone: every process remembers sessions by their numbers for as long as it has
 * the store open.
 */
#include "store/forget/sweep.h"
#include "store/rows/record.h"

enum { BURY = 64, LOOK_AT_NAMES = 256 };

struct grave {
  uint64_t name; /* n of its row */
  uint32_t session;
};

struct graveyard {
  struct grave graves[BURY];
  size_t count;
  uint64_t name; /* where to go on; 0: all names were looked at */
};

static int look_at(struct store_txn *txn, uint32_t session, int64_t now_ms, bool *ret_grave) {
  struct arena arena = ARENA_EMPTY;
  struct head head;
  struct visit visit = {
      .txn = txn, .session = session, .head = &head, .now_ms = now_ms, .arena = &arena};
  int rc = 0;
  *ret_grave = false;
  if (!head_get(txn, session, &arena, &head, NULL) &&
      !item_last(txn, session, &head, &visit.last, NULL)) {
    rc = visit_begin(&visit);
    if (!rc) {
      rc = visit_is_grave(&visit, ret_grave);
      visit_end(&visit);
    }
  }
  arena_free(&arena);
  return rc;
}

/* The session that a name row names; 0: it is damaged. */
static uint32_t session_of(uint64_t n, const MDB_val *value) {
  struct row_key key = row_key(0, ROW_NAME, n);
  struct record_reader reader;
  if (!record_open(&reader, &key, value->mv_data, value->mv_size)) return 0;
  uint64_t number = record_read_u64(&reader);
  return reader.bad || number > UINT32_MAX ? 0 : (uint32_t)number;
}

/* Names that collide are found one behind the other: one with another behind it stays. */
static bool has_successor(struct store_txn *txn, uint64_t n) {
  struct row_key key = row_key(0, ROW_NAME, n + 1);
  MDB_val value;
  return row_get(txn, &key, &value) != MDB_NOTFOUND;
}

static int look_at_names(struct store_txn *txn, int64_t now_ms, struct graveyard *yard) {
  struct row_key from = row_key(0, ROW_NAME, yard->name);
  MDB_val key = {KEY_BYTES, from.bytes}, value;
  MDB_cursor *cursor;
  int rc = mdb_cursor_open(txn->txn, txn->store->tree, &cursor);
  if (rc) return rc;
  rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
  for (int i = 0; !rc && i < LOOK_AT_NAMES && yard->count < BURY; i++) {
    if (key.mv_size != KEY_BYTES || memcmp(key.mv_data, from.bytes, 5) != 0) rc = MDB_NOTFOUND;
    if (rc) break;
    uint64_t n = row_key_n(key.mv_data);
    uint32_t session = session_of(n, &value);
    bool grave = false;
    if (session) rc = look_at(txn, session, now_ms, &grave);
    if (!rc && grave && !has_successor(txn, n))
      yard->graves[yard->count++] = (struct grave){n, session};
    yard->name = n + 1;
    if (!rc) rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  if (rc == MDB_NOTFOUND) yard->name = 0;
  return rc == MDB_NOTFOUND ? 0 : rc;
}

static int delete_row(struct store_txn *txn, uint32_t session, enum row_kind kind, uint64_t n,
                      struct tidings_error *error) {
  struct row_key row = row_key(session, kind, n);
  MDB_val key = {KEY_BYTES, row.bytes};
  int rc = mdb_del(txn->txn, txn->store->tree, &key, NULL);
  return rc && rc != MDB_NOTFOUND ? lmdb_failed(error, rc, "forget a closed session") : 0;
}

static int bury(struct store_txn *txn, const struct graveyard *yard, struct tidings_error *error) {
  int code = 0;
  for (size_t i = 0; !code && i < yard->count; i++) {
    code = delete_row(txn, 0, ROW_NAME, yard->graves[i].name, error);
    if (!code) code = delete_row(txn, yard->graves[i].session, ROW_HEAD, 0, error);
  }
  return code;
}

/* What there is to do, by a snapshot. */
static int look(struct store *store, int64_t now_ms, struct sweep *ret_sweep,
                struct graveyard *yard, bool *ret_anything, struct tidings_error *error) {
  struct row_key first = row_key(1, 0, 0);
  MDB_val key = {KEY_BYTES, first.bytes}, value;
  MDB_cursor *cursor;
  struct store_txn *txn;
  int code = store_read(store, &txn, error);
  if (code) return code;
  int rc = sweep_get(txn, ret_sweep);
  yard->name = ret_sweep->name;
  if (!rc && ret_sweep->graves) rc = look_at_names(txn, now_ms, yard);
  *ret_anything = ret_sweep->graves || !sweep_rests(ret_sweep, now_ms);
  if (!rc && *ret_anything) {
    rc = mdb_cursor_open(txn->txn, store->tree, &cursor);
    if (!rc) {
      rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
      mdb_cursor_close(cursor);
      if (rc == MDB_NOTFOUND) { /* no session at all */
        *ret_anything = false;
        rc = 0;
      }
    }
  }
  store_end(txn);
  return rc ? lmdb_failed(error, rc, "look for what can be forgotten") : 0;
}

static int step(struct store *store, int64_t now_ms, uint32_t budget_ms,
                struct tidings_error *error) {
  struct graveyard yard = {.count = 0};
  struct store_txn *txn;
  struct sweep sweep;
  bool anything = false;
  int code = look(store, now_ms, &sweep, &yard, &anything, error);
  if (code || !anything) return code;
  code = store_write(store, store_deadline_in(budget_ms), &txn, error);
  if (code) return code;
  if (sweep.graves) {
    sweep.name = yard.name;
    if (!yard.name) sweep.graves = 0;
    code = bury(txn, &yard, error);
    if (!code) code = sweep_put(txn, &sweep, error);
  }
  if (!code) code = store_sweep(txn, 0, now_ms, error);
  if (!code) return store_commit(txn, error);
  store_end(txn);
  return code;
}

void sweep_alone(struct store *store, int64_t now_ms, uint32_t budget_ms) {
  struct tidings_error error = {.size = sizeof error};
  if (step(store, now_ms, budget_ms, &error))
    store_log(store, TIDINGS_LOG_WARNING, "store: nothing was forgotten: %s", error.text);
}
