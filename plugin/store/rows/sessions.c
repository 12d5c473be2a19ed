/* SPDX-License-Identifier: MIT
 *
 * store/rows/sessions.c: a session's name to its number, so that keys are short and of one width.
 * Numbers are never given out again. A name row's n is a hash of the name; names that collide stand
 * one behind the other.
 */
#include "store/internal.h"
#include "store/rows/record.h"

enum { LONGEST_PROBE = 16 };

static uint64_t hash_name(struct tidings_span name) { /* FNV-1a */
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < name.len; i++) hash = (hash ^ (uint8_t)name.ptr[i]) * 0x100000001b3u;
  return hash & ~(uint64_t)0xff; /* room behind it */
}

/* Finds the row of `name`, or else the free place for it: *ret_number 0. */
static int probe(struct store_txn *txn, struct tidings_span name, struct row_key *ret_key,
                 uint32_t *ret_number, struct tidings_error *error) {
  uint64_t hash = hash_name(name);
  for (uint64_t i = 0; i < LONGEST_PROBE; i++) {
    struct row_key key = row_key(0, ROW_NAME, hash + i);
    struct record_reader reader;
    MDB_val value;
    int rc = row_get(txn, &key, &value);
    if (rc && rc != MDB_NOTFOUND) return lmdb_failed(error, rc, "look a session up");
    if (rc == MDB_NOTFOUND) {
      *ret_key = key;
      *ret_number = 0;
      return 0;
    }
    if (!record_open(&reader, &key, value.mv_data, value.mv_size))
      return row_damaged(error, "the session's name", 0, hash + i);
    uint64_t number = record_read_u64(&reader);
    struct tidings_span stored = record_read_bytes(&reader);
    if (!record_close(&reader) || !number || number > UINT32_MAX)
      return row_damaged(error, "the session's name", 0, hash + i);
    if (span_equal(stored, name)) {
      *ret_number = (uint32_t)number;
      return 0;
    }
  }
  return fail(error, TIDINGS_E_FULL,
              "the store has too many sessions with names like this one; name it otherwise");
}

int session_find(struct store_txn *txn, struct tidings_span session, uint32_t *ret_number,
                 struct tidings_error *error) {
  struct row_key key;
  return probe(txn, session, &key, ret_number, error);
}

/* The next free number is in the schema row. */
static int read_meta(struct store_txn *txn, uint64_t *ret_schema, uint64_t *ret_next,
                     struct tidings_error *error) {
  struct row_key key = row_key(0, ROW_META, 0);
  struct record_reader reader;
  MDB_val value;
  int rc = row_get(txn, &key, &value);
  if (rc) return lmdb_failed(error, rc, "read its schema row");
  if (!record_open(&reader, &key, value.mv_data, value.mv_size))
    return row_damaged(error, "the schema", 0, 0);
  uint64_t schema = record_read_u64(&reader), next = record_read_u64(&reader);
  if (!record_close(&reader) || !next) return row_damaged(error, "the schema", 0, 0);
  *ret_schema = schema;
  *ret_next = next;
  return 0;
}

static int take_number(struct store_txn *txn, uint32_t *ret_number, struct tidings_error *error) {
  struct row_key key = row_key(0, ROW_META, 0);
  struct buffer body = BUFFER_EMPTY;
  uint64_t schema = 0, next = 0;
  int code = read_meta(txn, &schema, &next, error);
  if (code) return code;
  if (next > UINT32_MAX)
    return fail(error, TIDINGS_E_FULL,
                "the store has had 4,294,967,295 sessions; move it away to start a new one");
  record_begin(&body);
  record_u64(&body, schema);
  record_u64(&body, next + 1);
  code = row_put(txn, &key, &body, error);
  buffer_free(&body);
  if (!code) *ret_number = (uint32_t)next;
  return code;
}

int session_limit(struct store_txn *txn, uint32_t *ret_limit, struct tidings_error *error) {
  uint64_t schema = 0, next = 0;
  int code = read_meta(txn, &schema, &next, error);
  if (!code) *ret_limit = next > UINT32_MAX ? UINT32_MAX : (uint32_t)next;
  return code;
}

int session_add(struct store_txn *txn, struct tidings_span session, uint32_t *ret_number,
                struct tidings_error *error) {
  struct row_key key;
  uint32_t number = 0;
  int code = probe(txn, session, &key, &number, error);
  if (code) return code;
  if (!number) {
    struct buffer body = BUFFER_EMPTY;
    code = take_number(txn, &number, error);
    if (code) return code;
    record_begin(&body);
    record_u64(&body, number);
    record_bytes(&body, session);
    code = row_put(txn, &key, &body, error);
    buffer_free(&body);
    if (code) return code;
  }
  *ret_number = number;
  return 0;
}

/* False: the row is damaged. */
static bool read_name(const MDB_val *key, const MDB_val *value, struct tidings_span *ret_name,
                      uint32_t *ret_number) {
  struct row_key own = row_key(0, ROW_NAME, row_key_n(key->mv_data));
  struct record_reader reader;
  if (!record_open(&reader, &own, value->mv_data, value->mv_size)) return false;
  uint64_t number = record_read_u64(&reader);
  *ret_name = record_read_bytes(&reader);
  *ret_number = (uint32_t)number;
  return record_close(&reader) && number && number <= UINT32_MAX;
}

int session_scan(struct store_txn *txn, session_visitor each, void *context,
                 struct tidings_error *error) {
  struct row_key from = row_key(0, ROW_NAME, 0);
  MDB_val key = {KEY_BYTES, from.bytes}, value;
  MDB_cursor *cursor;
  int result = 0;
  int rc = mdb_cursor_open(txn->txn, txn->store->tree, &cursor);
  if (rc) return lmdb_failed(error, rc, "read the sessions' names");
  struct row_key prefix = from;
  rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
  while (!rc && !result && key.mv_size == KEY_BYTES && memcmp(key.mv_data, prefix.bytes, 5) == 0) {
    struct tidings_span name;
    uint32_t number;
    if (read_name(&key, &value, &name, &number)) result = each(context, name, number);
    rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  return result                     ? result
         : rc && rc != MDB_NOTFOUND ? lmdb_failed(error, rc, "read the sessions' names")
                                    : 0;
}
