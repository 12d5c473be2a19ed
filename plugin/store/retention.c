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
  bool over;   /* an item was met that is to stay */
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

/* The row behind the cursor, likewise. */
static int step(struct sweep *sweep, enum row_kind kind) {
  struct row_key first = row_key(sweep->session, kind, 0);
  int rc = mdb_cursor_get(sweep->cursor, &sweep->key, &sweep->value, MDB_NEXT);
  if (rc) return rc;
  return sweep->key.mv_size == KEY_BYTES && memcmp(sweep->key.mv_data, first.bytes, 5) == 0 ? 0 : MDB_NOTFOUND;
}

static bool older_than(const struct sweep *sweep, int64_t time_ms, int64_t age_ms) {
  int64_t since_ms;
  return !__builtin_sub_overflow(sweep->now_ms, age_ms, &since_ms) && time_ms < since_ms;
}

static bool too_old(const struct sweep *sweep, int64_t time_ms) {
  return older_than(sweep, time_ms, (int64_t)STORE_RETAIN_DAYS * 86400000);
}

/* Items first..end-1, which have ended. Sets `over` at the first that is to stay: the ones behind it are newer. */
static int sweep_range(struct sweep *sweep, uint64_t first, uint64_t end, uint64_t last) {
  int rc = seek(sweep, ROW_ITEM, first);
  while (!rc && sweep->left) {
    uint64_t n = row_key_n(sweep->key.mv_data);
    struct row_key key = row_key(sweep->session, ROW_ITEM, n);
    struct record_reader reader;
    if (n >= end) break;
    bool excess = last - n >= STORE_RETAIN_ITEMS;
    if (!excess && record_open(&reader, &key, sweep->value.mv_data, sweep->value.mv_size))
      excess = too_old(sweep, record_read_i64(&reader));
    sweep->over = !excess || n == last;
    if (sweep->over) break;
    rc = mdb_cursor_del(sweep->cursor, 0);
    sweep->left--;
    if (!rc) rc = step(sweep, ROW_ITEM); /* after a deletion that is the row behind it */
  }
  return rc == MDB_NOTFOUND ? 0 : rc;
}

/* What is below the watermark, and then what has ended behind items that have not. */
static int sweep_items(struct sweep *sweep, const struct head *head, uint64_t last) {
  int rc = sweep_range(sweep, 0, head->watermark, last);
  for (size_t i = 0; !rc && !sweep->over && sweep->left && i < head->taken_count; i++) {
    const struct taken *taken = &head->taken[i];
    if (!taken->delivery) rc = sweep_range(sweep, taken->first, taken->last + 1, last);
  }
  return rc;
}

/* 0: no item of this delivery is left. MDB_KEYEXIST: some is. */
static int look_for_items(struct sweep *sweep, const struct delivery *delivery) {
  for (size_t i = 0; i < delivery->fate_count; i++) {
    int rc = seek(sweep, ROW_ITEM, delivery->fates[i].first);
    if (!rc && row_key_n(sweep->key.mv_data) <= delivery->fates[i].last) return MDB_KEYEXIST;
    if (rc && rc != MDB_NOTFOUND) return rc;
  }
  return 0;
}

/* Deliveries in order, as long as all their items are gone; one that named none goes when it is old. */
static int sweep_deliveries(struct sweep *sweep, struct arena *arena, const struct head *head) {
  int rc = seek(sweep, ROW_DELIVERY, 0);
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
    if (intact && !empty) {
      rc = look_for_items(sweep, &delivery);
      if (rc == MDB_KEYEXIST) return 0;
      if (!rc) rc = seek(sweep, ROW_DELIVERY, n);
      if (rc) break;
    }
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
    bool stale =
        !record_open(&reader, &key, sweep->value.mv_data, sweep->value.mv_size) || older_than(sweep, record_read_i64(&reader), window_ms);
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
