/* SPDX-License-Identifier: MIT
 *
 * store/rows/transitions.c: what a session's run did, one row a step.
 */
#include "store/internal.h"
#include "store/rows/record.h"

int transition_put(struct store_txn *txn, uint32_t session, const struct transition *transition,
                   struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_TRANSITION, transition->n);
  struct buffer body = BUFFER_EMPTY;
  encode_transition(&body, transition);
  int code = row_put(txn, &key, &body, error);
  buffer_free(&body);
  return code;
}

static int decode(uint32_t session, uint64_t n, const MDB_val *value, struct arena *arena,
                  struct transition *ret_transition) {
  struct row_key key = row_key(session, ROW_TRANSITION, n);
  struct record_reader reader;
  struct tidings_span copy;
  bool no_memory = false;
  if (arena_copy(arena, span_of(value->mv_data, value->mv_size), &copy)) return TIDINGS_E_NOMEM;
  if (!record_open(&reader, &key, copy.ptr, copy.len) ||
      !decode_transition(&reader, arena, ret_transition, &no_memory))
    return no_memory ? TIDINGS_E_NOMEM : TIDINGS_E_STORE;
  ret_transition->n = n;
  return 0;
}

int transition_scan(struct store_txn *txn, uint32_t session, uint64_t first, struct arena *arena,
                    transition_visitor each, void *context, struct tidings_error *error) {
  struct row_key from = row_key(session, ROW_TRANSITION, first);
  MDB_val key = {KEY_BYTES, from.bytes}, value;
  MDB_cursor *cursor;
  int code = 0;
  int rc = mdb_cursor_open(txn->txn, txn->store->tree, &cursor);
  if (rc) return lmdb_failed(error, rc, "read what a session's run did");
  rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
  while (!rc && key.mv_size == KEY_BYTES && memcmp(key.mv_data, from.bytes, 5) == 0) {
    struct transition transition;
    code = decode(session, row_key_n(key.mv_data), &value, arena, &transition);
    if (code == TIDINGS_E_NOMEM) break;
    bool over = !code && each(context, &transition);
    code = 0;
    if (over) break;
    rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  if (code) return fail(error, code, "no memory for what a session's run did");
  return rc && rc != MDB_NOTFOUND ? lmdb_failed(error, rc, "read what a session's run did") : 0;
}
