/* SPDX-License-Identifier: MIT
 *
 * store/rows/meta.c: the first row of a store: its schema number, and the next session's number.
 */
#include "store/rows/rows.h"

struct db_key meta_first(struct buffer *out) {
  struct db_key key = row_key(0, ROW_META, 0);
  record_begin(out);
  record_u64(out, db_layout);
  record_u64(out, 1);
  record_end(out, &key);
  return key;
}

bool meta_as(const struct db_key *key, struct tidings_span value, uint64_t layout,
             struct buffer *out) {
  const struct db_key first = row_key(0, ROW_META, 0);
  struct record_reader reader;
  if (memcmp(key, &first, sizeof first) != 0 || !record_open(&reader, key, value)) return false;
  uint64_t theirs = record_read_u64(&reader), next = record_read_u64(&reader);
  if (theirs < DB_LAYOUT_DATABASE || theirs > DB_LAYOUT_FOLDER || !record_close(&reader))
    return false;
  out->len = 0;
  record_begin(out);
  record_u64(out, layout);
  record_u64(out, next);
  record_end(out, key);
  return !out->failed;
}

/* A newer build may have migrated the store while this one had it open. */
static int refuse_schema(const char *place, uint64_t schema, struct tidings_error *error) {
  if (schema > db_layout)
    return fail(error, TIDINGS_E_SCHEMA_NEWER,
                "store %s has schema %llu, this build knows up to %llu; use a newer tidings. The "
                "store was left as it is",
                place, (unsigned long long)schema, (unsigned long long)db_layout);
  return fail(
      error, TIDINGS_E_STORE,
      "store %s has schema %llu, this build knows %llu; make a new one from it with 'tidings "
      "store migrate %s NEW'. The store was left as it is",
      place, (unsigned long long)schema, (unsigned long long)db_layout, place);
}

int meta_check(struct store_txn *txn, struct tidings_error *error) {
  if (db_state(txn->db).before) return 0; /* the write that left the rows so has looked */
  const char *place = db_place(txn->store->db);
  struct db_key key = row_key(0, ROW_META, 0);
  struct record_reader reader;
  struct tidings_span value;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read its schema number");
  if (!value.ptr)
    return fail(error, TIDINGS_E_STORE, "store %s has no schema number: it was not made by tidings",
                place);
  if (record_format(&key, value) > RECORD_FORMAT)
    return fail(
        error, TIDINGS_E_SCHEMA_NEWER,
        "store %s has records of a newer format; use a newer tidings. The store was left as it is",
        place);
  bool intact = record_open(&reader, &key, value);
  uint64_t schema = intact ? record_read_u64(&reader) : 0;
  if (!intact || reader.bad)
    return fail(
        error, TIDINGS_E_STORE,
        "store %s: the record of its schema number is damaged; recover what is left with 'tidings "
        "store salvage %s NEW', or restore it from a backup",
        place, place);
  return schema == db_layout ? 0 : refuse_schema(place, schema, error);
}

static int read_meta(struct store_txn *txn, uint64_t *ret_schema, uint64_t *ret_next,
                     struct tidings_error *error) {
  struct db_key key = row_key(0, ROW_META, 0);
  struct record_reader reader;
  struct tidings_span value;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read its schema row");
  if (!value.ptr || !record_open(&reader, &key, value))
    return row_damaged(error, "the schema", 0, 0);
  uint64_t schema = record_read_u64(&reader), next = record_read_u64(&reader);
  if (!record_close(&reader) || !next) return row_damaged(error, "the schema", 0, 0);
  *ret_schema = schema;
  *ret_next = next;
  return 0;
}

int meta_take_number(struct store_txn *txn, uint32_t *ret_number, struct tidings_error *error) {
  uint64_t schema = 0, next = 0;
  int code = read_meta(txn, &schema, &next, error);
  if (code) return code;
  if (next > UINT32_MAX)
    return fail(error, TIDINGS_E_FULL,
                "the store has had 4,294,967,295 sessions; move it away to start a new one");
  code = meta_put_next(txn, next + 1, error);
  if (!code) *ret_number = (uint32_t)next;
  return code;
}

int meta_put_next(struct store_txn *txn, uint64_t next, struct tidings_error *error) {
  struct db_key key = row_key(0, ROW_META, 0);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_u64(&body, db_layout);
  record_u64(&body, next);
  return row_put(txn, &key, &body, error);
}

int session_limit(struct store_txn *txn, uint32_t *ret_limit, struct tidings_error *error) {
  uint64_t schema = 0, next = 0;
  int code = read_meta(txn, &schema, &next, error);
  if (!code) *ret_limit = next > UINT32_MAX ? UINT32_MAX : (uint32_t)next;
  return code;
}
