/* SPDX-License-Identifier: MIT
 *
 * store/rows/deliveries.c: the delivery rows of a session: what was handed out, to which carrier,
 * and how it ended.
 */
#include "store/internal.h"
#include "store/rows/record.h"

static int decode(uint32_t session, uint64_t n, const MDB_val *value, struct arena *arena,
                  struct delivery *ret_delivery, struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_DELIVERY, n);
  struct record_reader reader;
  struct tidings_span copy;
  bool no_memory = false;
  if (arena_copy(arena, span_of(value->mv_data, value->mv_size), &copy))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a delivery");
  if (!record_open(&reader, &key, copy.ptr, copy.len) ||
      !decode_delivery(&reader, arena, ret_delivery, &no_memory)) {
    return no_memory ? fail(error, TIDINGS_E_NOMEM, "no memory for a delivery")
                     : row_damaged(error, "delivery", session, n);
  }
  ret_delivery->n = n;
  return 0;
}

int delivery_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
                 struct delivery *ret_delivery, struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_DELIVERY, n);
  MDB_val value;
  int rc = row_get(txn, &key, &value);
  if (rc == MDB_NOTFOUND) return fail(error, TIDINGS_E_NOT_FOUND, "the store has no such delivery");
  if (rc) return lmdb_failed(error, rc, "read a delivery");
  return decode(session, n, &value, arena, ret_delivery, error);
}

static int make_up(const struct head *head, uint64_t n, struct arena *arena,
                   struct delivery *ret_delivery, struct tidings_error *error) {
  struct fate_range *fates = arena_zalloc(arena, head->taken_count, sizeof *fates);
  size_t count = 0;
  if (!fates) return fail(error, TIDINGS_E_NOMEM, "no memory for a delivery");
  for (size_t i = 0; i < head->taken_count; i++) {
    const struct taken *taken = &head->taken[i];
    if (taken->delivery == n)
      fates[count++] =
          (struct fate_range){taken->first, taken->last, 0, OUTCOME_DELIVERED, REASON_SHOWN};
  }
  *ret_delivery = (struct delivery){
      .n = n,
      .epoch = head->epoch,
      .leased_ms = head->attached_ms,
      .state = DELIVERY_LEASED,
      .carrier = CARRIER_NONE,
      .after = count ? fates[count - 1].last : 0,
      .fates = fates,
      .fate_count = count,
  };
  return 0;
}

int delivery_get_leased(struct store_txn *txn, uint32_t session, const struct head *head,
                        uint64_t n, struct arena *arena, struct delivery *ret_delivery,
                        struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_DELIVERY, n);
  MDB_val value;
  int rc = row_get(txn, &key, &value);
  if (rc && rc != MDB_NOTFOUND) return lmdb_failed(error, rc, "read a delivery");
  int code = rc ? TIDINGS_E_STORE : decode(session, n, &value, arena, ret_delivery, NULL);
  if (code == TIDINGS_E_NOMEM) return fail(error, code, "no memory for a delivery");
  return code ? make_up(head, n, arena, ret_delivery, error) : 0;
}

int delivery_put(struct store_txn *txn, uint32_t session, const struct delivery *delivery,
                 struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_DELIVERY, delivery->n);
  struct buffer body = BUFFER_EMPTY;
  encode_delivery(&body, delivery);
  int code = row_put(txn, &key, &body, error);
  buffer_free(&body);
  return code;
}

int delivery_scan(struct store_txn *txn, uint32_t session, struct arena *arena,
                  delivery_visitor each, void *context, struct tidings_error *error) {
  struct row_key from = row_key(session, ROW_DELIVERY, 0);
  MDB_val key = {KEY_BYTES, from.bytes}, value;
  MDB_cursor *cursor;
  int code = 0;
  int rc = mdb_cursor_open(txn->txn, txn->store->tree, &cursor);
  if (rc) return lmdb_failed(error, rc, "read deliveries");
  rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
  while (!rc && key.mv_size == KEY_BYTES && memcmp(key.mv_data, from.bytes, 5) == 0) {
    struct tidings_error refusal = {.size = sizeof refusal};
    struct delivery delivery;
    code = decode(session, row_key_n(key.mv_data), &value, arena, &delivery, &refusal);
    bool damaged = code == TIDINGS_E_STORE;
    if (damaged) code = 0;
    if (code) (void)fail(error, code, "%s", refusal.text);
    if (code || (!damaged && each(context, &delivery))) break;
    rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  if (!code && rc && rc != MDB_NOTFOUND) code = lmdb_failed(error, rc, "read deliveries");
  return code;
}
