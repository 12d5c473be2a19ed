/* SPDX-License-Identifier: MIT
 *
 * store/heads.c: the head row of a session.
 */
#include "store/internal.h"
#include "store/record.h"

int head_get(struct store_txn *txn, uint32_t session, struct arena *arena, struct head *ret_head, struct tidings_error *error) {
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
  if (record_open(&reader, &key, copy.ptr, copy.len) && decode_head(&reader, arena, ret_head, &no_memory)) return 0;
  return no_memory ? fail(error, TIDINGS_E_NOMEM, "no memory for a session's head") : row_damaged(error, "head", session, 0);
}

int head_put(struct store_txn *txn, uint32_t session, const struct head *head, struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_HEAD, 0);
  struct head next = *head;
  struct buffer body = BUFFER_EMPTY;
  if (txn_touch(txn, session)) return fail(error, TIDINGS_E_STORE, "too many sessions in one transaction");
  next.generation++;
  encode_head(&body, &next);
  int code = row_put(txn, &key, &body, error);
  buffer_free(&body);
  return code;
}
