/* SPDX-License-Identifier: MIT
 *
 * store/rows/items.c: reading items. They are written by push.c, once, and deleted by retention.c.
 */
#include "store/internal.h"
#include "store/rows/record.h"

/* The cursor's row, if it is an item of this session. */
static bool is_item_of(const MDB_val *key, uint32_t session, uint64_t *ret_n) {
  struct row_key first = row_key(session, ROW_ITEM, 0);
  if (key->mv_size != KEY_BYTES || memcmp(key->mv_data, first.bytes, 5) != 0) return false;
  *ret_n = row_key_n(key->mv_data);
  return true;
}

int item_last(struct store_txn *txn, uint32_t session, const struct head *head, uint64_t *ret_n,
              struct tidings_error *error) {
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

/* A damaged record becomes an item without a message. Without an arena the text is the snapshot's
 * own. */
static int decode(uint32_t session, uint64_t n, const MDB_val *value, struct arena *arena,
                  struct item *ret_item) {
  struct row_key key = row_key(session, ROW_ITEM, n);
  struct record_reader reader;
  struct tidings_span copy = span_of(value->mv_data, value->mv_size);
  if (arena && arena_copy(arena, copy, &copy)) return -1;
  *ret_item = (struct item){.n = n};
  if (!record_open(&reader, &key, copy.ptr, copy.len) || !decode_item(&reader, ret_item))
    *ret_item = (struct item){.n = n};
  return 0;
}

int item_scan(struct store_txn *txn, uint32_t session, uint64_t first, uint64_t last,
              struct arena *arena, item_visitor each, void *context, struct tidings_error *error) {
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

int item_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
             struct item *ret_item, struct tidings_error *error) {
  struct row_key key = row_key(session, ROW_ITEM, n);
  MDB_val value;
  int rc = row_get(txn, &key, &value);
  if (rc == MDB_NOTFOUND)
    return fail(error, TIDINGS_E_NOT_FOUND, "the session has no item %llu", (unsigned long long)n);
  if (rc) return lmdb_failed(error, rc, "read an item");
  return decode(session, n, &value, arena, ret_item)
             ? fail(error, TIDINGS_E_NOMEM, "no memory for an item")
             : 0;
}

/* -- pending ----------------------------------------------------------------------------------- */

enum { FIRST_ROOM = 16, LARGEST_FIRST_ROOM = 16384 };

struct gathering {
  struct store_txn *txn;
  uint32_t session;
  struct arena *arena, *text_arena;
  struct item *items; /* not zeroed, and read into: most of what a delivery costs is memory that is
                         touched */
  size_t count, capacity;
};

static int grow(struct gathering *gathering, size_t capacity) {
  struct item *items = arena_array(gathering->arena, capacity, sizeof *items);
  if (!items) return -1;
  if (gathering->count) memcpy(items, gathering->items, gathering->count * sizeof *items);
  gathering->items = items;
  gathering->capacity = capacity;
  return 0;
}

/* Room for all that can be pending, as far as that is believable. */
static int make_room(struct gathering *gathering, const struct head *head,
                     struct tidings_error *error) {
  uint64_t last = 0, room = 0;
  int code = item_last(gathering->txn, gathering->session, head, &last, error);
  if (code) return code;
  if (last >= head->watermark) room = last - head->watermark + 1;
  for (size_t i = 0; i < head->taken_count && room; i++) {
    uint64_t taken = head->taken[i].last - head->taken[i].first + 1;
    room -= taken < room ? taken : room;
  }
  if (room > LARGEST_FIRST_ROOM) room = LARGEST_FIRST_ROOM;
  return grow(gathering, room ? (size_t)room : FIRST_ROOM)
             ? fail(error, TIDINGS_E_NOMEM, "no memory for what is pending")
             : 0;
}

static int gather(struct gathering *gathering, MDB_cursor *cursor, uint64_t first, uint64_t last,
                  struct tidings_error *error) {
  struct row_key from = row_key(gathering->session, ROW_ITEM, first);
  MDB_val key = {KEY_BYTES, from.bytes}, value;
  uint64_t n;
  int rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
  while (!rc && is_item_of(&key, gathering->session, &n) && n <= last) {
    if (gathering->count == gathering->capacity && grow(gathering, gathering->capacity * 2))
      return fail(error, TIDINGS_E_NOMEM, "no memory for what is pending");
    if (decode(gathering->session, n, &value, gathering->text_arena,
               &gathering->items[gathering->count++]))
      return fail(error, TIDINGS_E_NOMEM, "no memory for an item");
    rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  return rc && rc != MDB_NOTFOUND ? lmdb_failed(error, rc, "read items") : 0;
}

/* Reads the gaps between what is taken, so that what has ended behind one item that is never told
 * costs nothing. */
static int gather_pending(struct store_txn *txn, uint32_t session, const struct head *head,
                          struct arena *arena, struct arena *text_arena, struct item **ret_items,
                          size_t *ret_count, struct tidings_error *error) {
  struct gathering gathering = {
      .txn = txn, .session = session, .arena = arena, .text_arena = text_arena};
  uint64_t first = head->watermark;
  MDB_cursor *cursor;
  if (!session) {
    *ret_items = NULL;
    *ret_count = 0;
    return 0;
  }
  int code = make_room(&gathering, head, error);
  if (code) return code;
  int rc = mdb_cursor_open(txn->txn, txn->store->tree, &cursor);
  if (rc) return lmdb_failed(error, rc, "read items");
  for (size_t i = 0; !code && i < head->taken_count; i++) {
    if (head->taken[i].first > first)
      code = gather(&gathering, cursor, first, head->taken[i].first - 1, error);
    first = head->taken[i].last + 1;
  }
  if (!code) code = gather(&gathering, cursor, first, UINT64_MAX, error);
  mdb_cursor_close(cursor);
  if (code) return code;
  *ret_items = gathering.items;
  *ret_count = gathering.count;
  return 0;
}

int item_pending(struct store_txn *txn, uint32_t session, const struct head *head,
                 struct arena *arena, struct item **ret_items, size_t *ret_count,
                 struct tidings_error *error) {
  return gather_pending(txn, session, head, arena, NULL, ret_items, ret_count, error);
}

int item_pending_copied(struct store_txn *txn, uint32_t session, const struct head *head,
                        struct arena *arena, struct item **ret_items, size_t *ret_count,
                        struct tidings_error *error) {
  return gather_pending(txn, session, head, arena, arena, ret_items, ret_count, error);
}
