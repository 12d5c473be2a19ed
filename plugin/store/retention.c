/* SPDX-License-Identifier: MIT
 *
 * store/retention.c: forgetting, a few rows at a time: ended items beyond the newest STORE_RETAIN_ITEMS or STORE_RETAIN_DAYS, deliveries of which
 * nothing is left, and dedup rows older than the window. Never a pending or leased item.
 */
#include <errno.h>

#include "store/internal.h"
#include "store/record.h"

enum { DEDUP_ROWS_A_STEP = 16 };

struct sweep {
  struct store_txn *txn;
  MDB_cursor *cursor;
  uint32_t session;
  int64_t now_ms;
  size_t left; /* how many rows may still go */
  MDB_val key, value;
};

/* The next row at or after (kind, n), if it is of that kind in this session. MDB_NOTFOUND otherwise. */
static int seek(struct sweep *sweep, enum row_kind kind, uint64_t n) {
  struct row_key from = row_key(sweep->session, kind, n);
  sweep->key = (MDB_val){KEY_BYTES, from.bytes};
  int rc = mdb_cursor_get(sweep->cursor, &sweep->key, &sweep->value, MDB_SET_RANGE);
  if (rc) return rc;
  return sweep->key.mv_size == KEY_BYTES && memcmp(sweep->key.mv_data, from.bytes, 5) == 0 ? 0 : MDB_NOTFOUND;
}

static bool older_than(const struct sweep *sweep, int64_t time_ms, int64_t age_ms) {
  int64_t since_ms;
  return !__builtin_sub_overflow(sweep->now_ms, age_ms, &since_ms) && time_ms < since_ms;
}

static bool too_old(const struct sweep *sweep, int64_t time_ms) { return older_than(sweep, time_ms, (int64_t)STORE_RETAIN_DAYS * 86400000); }

static int sweep_items(struct sweep *sweep, struct head *head, uint64_t last) {
  int rc = seek(sweep, ROW_ITEM, 0);
  while (!rc && sweep->left) {
    uint64_t n = row_key_n(sweep->key.mv_data);
    struct row_key key = row_key(sweep->session, ROW_ITEM, n);
    struct record_reader reader;
    if (n >= head->watermark || n == last) break;
    bool excess = last - n >= STORE_RETAIN_ITEMS;
    if (!excess && record_open(&reader, &key, sweep->value.mv_data, sweep->value.mv_size))
      excess = too_old(sweep, record_read_i64(&reader));
    if (!excess) break;
    rc = mdb_cursor_del(sweep->cursor, 0);
    sweep->left--;
    if (!rc) rc = seek(sweep, ROW_ITEM, n + 1);
  }
  return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Deliveries in order, as long as all their items are gone; one that named none goes when it is old. */
static int sweep_deliveries(struct sweep *sweep, struct arena *arena, const struct head *head) {
  uint64_t oldest_item = head->watermark;
  int rc = seek(sweep, ROW_ITEM, 0);
  if (!rc) oldest_item = row_key_n(sweep->key.mv_data);
  rc = seek(sweep, ROW_DELIVERY, 0);
  while (!rc && sweep->left) {
    uint64_t n = row_key_n(sweep->key.mv_data);
    struct row_key key = row_key(sweep->session, ROW_DELIVERY, n);
    struct record_reader reader;
    struct delivery delivery;
    bool no_memory = false;
    bool intact =
        record_open(&reader, &key, sweep->value.mv_data, sweep->value.mv_size) && decode_delivery(&reader, arena, &delivery, &no_memory);
    if (no_memory) return ENOMEM;
    if ((head->leased_count && n >= head->leased[0]) || (intact && delivery.state == DELIVERY_LEASED)) break;
    bool empty = intact && delivery.fate_count == 0;
    if (intact && empty && !too_old(sweep, delivery.leased_ms)) break;
    if (intact && !empty && delivery.fates[delivery.fate_count - 1].last >= oldest_item) break;
    rc = mdb_cursor_del(sweep->cursor, 0);
    sweep->left--;
    if (!rc) rc = seek(sweep, ROW_DELIVERY, n + 1);
  }
  return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Dedup rows are in the order of their hashes, so old ones are found by going round, some at each step. */
static int sweep_dedup(struct sweep *sweep, struct head *head, int64_t window_ms) {
  int rc = seek(sweep, ROW_DEDUP, head->dedup_cursor);
  for (int i = 0; !rc && i < DEDUP_ROWS_A_STEP; i++) {
    uint64_t n = row_key_n(sweep->key.mv_data);
    struct row_key key = row_key(sweep->session, ROW_DEDUP, n);
    struct record_reader reader;
    bool stale = !record_open(&reader, &key, sweep->value.mv_data, sweep->value.mv_size) ||
                 older_than(sweep, record_read_i64(&reader), window_ms);
    if (stale) rc = mdb_cursor_del(sweep->cursor, 0);
    if (!rc) rc = seek(sweep, ROW_DEDUP, n + 1);
    head->dedup_cursor = n + 1;
  }
  if (rc == MDB_NOTFOUND) head->dedup_cursor = 0;
  return rc == MDB_NOTFOUND ? 0 : rc;
}

int retention_step(struct store_txn *txn, uint32_t session, struct head *head, int64_t now_ms, int64_t dedup_window_ms, size_t limit,
                   struct tidings_error *error) {
  struct sweep sweep = {.txn = txn, .session = session, .now_ms = now_ms, .left = limit};
  struct arena arena = ARENA_EMPTY;
  uint64_t last;
  int code = item_last(txn, session, head, &last, error);
  if (code) return code;
  int rc = mdb_cursor_open(txn->txn, txn->store->tree, &sweep.cursor);
  if (rc) return lmdb_failed(error, rc, "forget old rows");
  head->floor = last;
  rc = sweep_items(&sweep, head, last);
  if (!rc) rc = sweep_deliveries(&sweep, &arena, head);
  if (!rc) rc = sweep_dedup(&sweep, head, dedup_window_ms);
  mdb_cursor_close(sweep.cursor);
  arena_free(&arena);
  return rc ? lmdb_failed(error, rc, "forget old rows") : 0;
}
