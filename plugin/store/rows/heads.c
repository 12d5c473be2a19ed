/* SPDX-License-Identifier: MIT
 *
 * store/rows/heads.c: the head row of a session.
 */
#include "store/internal.h"
#include "store/rows/record.h"

int head_get(struct store_txn *txn, uint32_t session, struct arena *arena, struct head *ret_head,
             struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_HEAD, 0);
  struct record_reader reader;
  struct tidings_span copy;
  MDB_val value;
  bool no_memory = false;
  int rc = session ? row_get(txn, &key, &value) : MDB_NOTFOUND;
  if (rc == MDB_NOTFOUND) {
    *ret_head = (struct head){.watermark = 1};
    return 0;
  }
  if (rc) return lmdb_failed(error, rc, "read a session's head");
  if (arena_copy(arena, span_of(value.mv_data, value.mv_size), &copy))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a session's head");
  if (record_open(&reader, &key, copy.ptr, copy.len) &&
      decode_head(&reader, arena, ret_head, &no_memory))
    return 0;
  return no_memory ? fail(error, TIDINGS_E_NOMEM, "no memory for a session's head")
                   : row_damaged(error, "head", session, 0);
}

/* The number of the last row of a kind; 0: there is none. */
static int last_number(struct store_txn *txn, uint32_t session, enum row_kind kind, uint64_t *ret_n,
                       struct tidings_error *error) {
  struct row_key behind = row_key(session, kind + 1, 0), first = row_key(session, kind, 0);
  MDB_val key = {KEY_BYTES, behind.bytes}, value;
  MDB_cursor *cursor;
  int rc = mdb_cursor_open(txn->txn, txn->store->tree, &cursor);
  if (rc) return lmdb_failed(error, rc, "look for a session's newest row");
  rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
  rc = mdb_cursor_get(cursor, &key, &value, rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
  mdb_cursor_close(cursor);
  if (rc) return lmdb_failed(error, rc, "look for a session's newest row");
  *ret_n = key.mv_size == KEY_BYTES && memcmp(key.mv_data, first.bytes, 5) == 0
               ? row_key_n(key.mv_data)
               : 0;
  return 0;
}

int head_anew(struct store_txn *txn, uint32_t session, struct head *ret_head,
              struct tidings_error *error) {
  struct head head = {.generation = UINT32_MAX}; /* none that a decision under way has planned on */
  int code = item_last(txn, session, &head, &head.floor, error);
  if (!code) code = last_number(txn, session, ROW_DELIVERY, &head.last_delivery, error);
  if (!code) code = last_number(txn, session, ROW_MESSAGE, &head.run.last_message, error);
  if (!code) code = last_number(txn, session, ROW_TRANSITION, &head.last_transition, error);
  if (code) return code;
  head.watermark = head.floor + 1;
  *ret_head = head;
  return 0;
}

int head_put(struct store_txn *txn, uint32_t session, const struct head *head,
             struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_HEAD, 0);
  struct head next = *head;
  struct buffer body = BUFFER_EMPTY;
  if (txn_touch(txn, session))
    return fail(error, TIDINGS_E_STORE, "too many sessions in one transaction");
  next.generation++;
  encode_head(&body, &next);
  int code = row_put(txn, &key, &body, error);
  buffer_free(&body);
  return code;
}
