/* SPDX-License-Identifier: MIT
 *
 * store/items.c: reading items. They are written by push.c, once, and deleted by retention.c.
 */
#include "store/internal.h"
#include "store/record.h"

/* The cursor's row, if it is an item of this session. */
static bool is_item_of(const MDB_val *key, uint32_t session, uint64_t *ret_n) {
  struct row_key first = row_key(session, ROW_ITEM, 0);
  if (key->mv_size != KEY_BYTES || memcmp(key->mv_data, first.bytes, 5) != 0) return false;
  *ret_n = row_key_n(key->mv_data);
  return true;
}

int item_last(struct store_txn *txn, uint32_t session, const struct head *head, uint64_t *ret_n, struct tidings_error *error) {
  struct row_key behind = row_key(session, ROW_ITEM + 1, 0);
  MDB_val key = {KEY_BYTES, behind.bytes}, value;
  MDB_cursor *cursor;
  uint64_t n = 0;
  int rc = mdb_cursor_open(txn->txn, txn->store->tree, &cursor);
  if (rc) return lmdb_failed(error, rc, "look for a session's newest item");
  rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
  if (!rc) rc = mdb_cursor_get(cursor, &key, &value, MDB_PREV);
  else if (rc == MDB_NOTFOUND) rc = mdb_cursor_get(cursor, &key, &value, MDB_LAST);
  mdb_cursor_close(cursor);
  if (rc && rc != MDB_NOTFOUND) return lmdb_failed(error, rc, "look for a session's newest item");
  if (rc || !is_item_of(&key, session, &n)) n = 0;
  *ret_n = n > head->floor ? n : head->floor;
  return 0;
}

/* A damaged record becomes an item without a message. */
static int decode(uint32_t session, uint64_t n, const MDB_val *value, struct arena *arena, struct item *ret_item) {
  struct row_key key = row_key(session, ROW_ITEM, n);
  struct record_reader reader;
  struct tidings_span copy;
  if (arena_copy(arena, span_of(value->mv_data, value->mv_size), &copy)) return -1;
  memset(ret_item, 0, sizeof *ret_item);
  if (!record_open(&reader, &key, copy.ptr, copy.len) || !decode_item(&reader, ret_item)) memset(ret_item, 0, sizeof *ret_item);
  ret_item->n = n;
  return 0;
}

int item_scan(struct store_txn *txn, uint32_t session, uint64_t first, uint64_t last, struct arena *arena, item_visitor each, void *context,
              struct tidings_error *error) {
  struct row_key from = row_key(session, ROW_ITEM, first);
  MDB_val key = {KEY_BYTES, from.bytes}, value;
  MDB_cursor *cursor;
  uint64_t n;
  int code = 0;
  int rc = mdb_cursor_open(txn->txn, txn->store->tree, &cursor);
  if (rc) return lmdb_failed(error, rc, "read items");
  rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
  while (!rc && is_item_of(&key, session, &n) && n <= last) {
    struct item item;
    if (decode(session, n, &value, arena, &item)) {
      code = fail(error, TIDINGS_E_NOMEM, "no memory for an item");
      break;
    }
    if (each(context, &item)) break;
    rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  if (rc && rc != MDB_NOTFOUND) code = lmdb_failed(error, rc, "read items");
  return code;
}

int item_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena, struct item *ret_item, struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_ITEM, n);
  MDB_val value;
  int rc = row_get(txn, &key, &value);
  if (rc == MDB_NOTFOUND) return fail(error, TIDINGS_E_NOT_FOUND, "the session has no item %llu", (unsigned long long)n);
  if (rc) return lmdb_failed(error, rc, "read an item");
  return decode(session, n, &value, arena, ret_item) ? fail(error, TIDINGS_E_NOMEM, "no memory for an item") : 0;
}

/* -- pending --------------------------------------------------------------------------------------------------------------------------- */

struct gathering {
  struct arena *arena;
  struct item *items;
  size_t count, capacity;
  bool no_memory;
};

static int gather(void *context, const struct item *item) {
  struct gathering *gathering = context;
  if (gathering->count == gathering->capacity) {
    size_t capacity = gathering->capacity ? gathering->capacity * 2 : 16;
    struct item *items = arena_zalloc(gathering->arena, capacity, sizeof *items);
    if (!items) {
      gathering->no_memory = true;
      return 1;
    }
    if (gathering->count) memcpy(items, gathering->items, gathering->count * sizeof *items);
    gathering->items = items;
    gathering->capacity = capacity;
  }
  gathering->items[gathering->count++] = *item;
  return 0;
}

/* Reads the gaps between what is taken, so that what has ended behind one item that is never told costs nothing. */
int item_pending(struct store_txn *txn, uint32_t session, const struct head *head, struct arena *arena, const struct item **ret_items,
                 size_t *ret_count, struct tidings_error *error) {
  struct gathering gathering = {.arena = arena};
  uint64_t first = head->watermark;
  int code = 0;
  for (size_t i = 0; session && !code && i < head->taken_count; i++) {
    if (head->taken[i].first > first) code = item_scan(txn, session, first, head->taken[i].first - 1, arena, gather, &gathering, error);
    first = head->taken[i].last + 1;
  }
  if (session && !code) code = item_scan(txn, session, first, UINT64_MAX, arena, gather, &gathering, error);
  if (!code && gathering.no_memory) code = fail(error, TIDINGS_E_NOMEM, "no memory for what is pending");
  if (code) return code;
  *ret_items = gathering.items;
  *ret_count = gathering.count;
  return 0;
}
