/* SPDX-License-Identifier: MIT
 *
 * store/rows/delivery_ids.c: finds a delivery's number by its id. A store that was restored from a
 * backup gives some numbers out again. So an id contains a random mark, and a row leads from the
 * mark to the delivery. If only a transcript still has an id, the restored store finds no delivery
 * for it, and never a wrong one.
 */
#include <errno.h>

#include "store/rows/rows.h"

/* The number is added so that marks differ even if a host's random bytes are always the same. */
uint32_t delivery_mark(uint32_t random, uint64_t n, uint64_t last) {
  uint32_t mark = random + (uint32_t)n;
  return mark > last ? mark : 0;
}

int delivery_add(struct store_txn *txn, uint32_t session, const struct delivery *delivery,
                 struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_DELIVERY_ID, delivery->mark);
  struct buffer body = BUFFER_EMPTY;
  if (!delivery->mark) return delivery_put(txn, session, delivery, error);
  record_begin(&body);
  record_u64(&body, delivery->n);
  record_end(&body, &key);
  int rc = body.failed ? ENOMEM : db_put_new(txn->db, &key, buffer_view(&body));
  buffer_free(&body);
  if (rc == EEXIST)
    return fail(error, TIDINGS_E_BUSY,
                "another delivery of the session has the id that this one drew; nothing was lost, "
                "try again");
  if (rc) return db_failed(error, rc, "write a delivery's id");
  return delivery_put(txn, session, delivery, error);
}

/* A delivery without a mark has its number in its id. */
static int find_unmarked(struct store_txn *txn, uint32_t session, uint64_t n, uint64_t *ret_n,
                         struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  struct delivery delivery;
  int code = n ? delivery_get(txn, session, n, &arena, &delivery, NULL) : TIDINGS_E_NOT_FOUND;
  bool found = !code && !delivery.mark;
  arena_free(&arena);
  if (code == TIDINGS_E_NOMEM) return fail(error, code, "no memory for a delivery");
  *ret_n = found ? n : 0;
  return 0;
}

int delivery_find(struct store_txn *txn, uint32_t session, uint64_t id, uint64_t *ret_n,
                  struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_DELIVERY_ID, id & UINT32_MAX);
  struct record_reader reader;
  struct tidings_span value;
  *ret_n = 0;
  if (!session || id >> 32 != session) return 0;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "look for a delivery's id");
  if (!value.ptr) return find_unmarked(txn, session, id & UINT32_MAX, ret_n, error);
  if (!record_open(&reader, &key, value)) return 0; /* a damaged row names no delivery */
  uint64_t n = record_read_u64(&reader);
  if (record_close(&reader)) *ret_n = n;
  return 0;
}
