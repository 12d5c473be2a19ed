/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/tree.c: rows and cursors in LMDB. These functions do little, because a delivery
 * calls them most of the time.
 */
#include <errno.h>
#include <lmdb.h>

#include "store/db/lmdb/files.h"

/* LMDB takes keys that are not const and does not write to them. */
static MDB_val key_value(const struct db_key *key) {
  return (MDB_val){DB_KEY_BYTES, (void *)(uintptr_t)key->bytes};
}

int db_get(struct db_txn *txn, const struct db_key *key, struct tidings_span *ret_value) {
  MDB_val k = key_value(key), value;
  int rc = mdb_get(txn->engine, txn->db->tree, &k, &value);
  *ret_value = rc ? span_of(NULL, 0) : span_of(value.mv_data, value.mv_size);
  return rc == MDB_NOTFOUND ? 0 : rc;
}

int db_put(struct db_txn *txn, const struct db_key *key, struct tidings_span value) {
  MDB_val k = key_value(key), v = {value.len, (void *)(uintptr_t)value.ptr};
  return mdb_put(txn->engine, txn->db->tree, &k, &v, 0);
}

int db_put_new(struct db_txn *txn, const struct db_key *key, struct tidings_span value) {
  MDB_val k = key_value(key), v = {value.len, (void *)(uintptr_t)value.ptr};
  int rc = mdb_put(txn->engine, txn->db->tree, &k, &v, MDB_NOOVERWRITE);
  return rc == MDB_KEYEXIST ? EEXIST : rc;
}

int db_put_room(struct db_txn *txn, const struct db_key *key, size_t len, void **ret_value) {
  MDB_val k = key_value(key), v = {len, NULL};
  int rc = mdb_put(txn->engine, txn->db->tree, &k, &v, MDB_RESERVE);
  if (!rc) *ret_value = v.mv_data;
  return rc;
}

int db_delete(struct db_txn *txn, const struct db_key *key) {
  MDB_val k = key_value(key);
  int rc = mdb_del(txn->engine, txn->db->tree, &k, NULL);
  return rc == MDB_NOTFOUND ? 0 : rc;
}

/* -- cursors ----------------------------------------------------------------------------------- */

int db_cursor_open(struct db_txn *txn, struct db_cursor *ret_cursor) {
  MDB_cursor *engine = NULL;
  int rc = mdb_cursor_open(txn->engine, txn->db->tree, &engine);
  *ret_cursor = (struct db_cursor){.engine = engine};
  return rc;
}

void db_cursor_close(struct db_cursor *cursor) { mdb_cursor_close(cursor->engine); }

/* A key of another width is not from tidings: the cursor ends there. */
static int move(struct db_cursor *cursor, MDB_val key, MDB_cursor_op op) {
  MDB_val value;
  int rc = mdb_cursor_get(cursor->engine, &key, &value, op);
  if (rc || key.mv_size != DB_KEY_BYTES) {
    cursor->key = NULL;
    return rc == MDB_NOTFOUND ? 0 : rc;
  }
  cursor->key = key.mv_data;
  cursor->value = span_of(value.mv_data, value.mv_size);
  return 0;
}

int db_cursor_seek(struct db_cursor *cursor, const struct db_key *key) {
  return move(cursor, key_value(key), MDB_SET_RANGE);
}

int db_cursor_before(struct db_cursor *cursor, const struct db_key *key) {
  MDB_val k = key_value(key), value;
  int rc = mdb_cursor_get(cursor->engine, &k, &value, MDB_SET_RANGE);
  if (rc && rc != MDB_NOTFOUND) return rc;
  return move(cursor, k, rc ? MDB_LAST : MDB_PREV);
}

int db_cursor_next(struct db_cursor *cursor) { return move(cursor, (MDB_val){0, NULL}, MDB_NEXT); }

int db_cursor_delete(struct db_cursor *cursor) { return mdb_cursor_del(cursor->engine, 0); }

int db_reserve(struct db_txn *txn, uint64_t bytes, struct tidings_error *error) {
  return datafile_reserve(txn->db, bytes, error);
}
