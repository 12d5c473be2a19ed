/* SPDX-License-Identifier: MIT
 *
 * store/rows/items.c: reads items. push/ writes each item once, and forget/ deletes it.
 */
#include <errno.h>

#include "store/list.h"
#include "store/rows/rows.h"

void item_encode(struct buffer *out, int64_t time_ms, const struct notification *note,
                 const struct origin *origin) {
  static const struct origin none = {0};
  bool copied = origin && origin->item;
  record_begin(out);
  record_i64(out, time_ms);
  record_i64(out, note->ttl_ms);
  record_u64(out, note->level);
  record_u64(out, note->activation);
  record_bytes(out, note->source);
  record_bytes(out, note->name);
  record_bytes(out, note->message);
  record_bytes(out, note->data);
  record_bytes(out, note->key);
  record_bytes(out, note->tool);
  record_bytes(out, note->handle);
  record_bytes(out, note->caused_by);
  /* A record without the next fields ends here or after made_by. Records of earlier versions do. */
  if (note->made_by || note->occurred_ms || copied || note->due_ms) record_u64(out, note->made_by);
  if (note->occurred_ms || copied || note->due_ms) record_i64(out, note->occurred_ms);
  if (!copied && !note->due_ms) return;
  if (!copied) origin = &none;
  record_u64(out, origin->item);
  record_u64(out, origin->delivery);
  record_u64(out, origin->outcome);
  if (note->due_ms) record_i64(out, note->due_ms);
}

static void decode_origin(struct record_reader *reader, struct origin *origin) {
  origin->item = record_read_u64(reader);
  origin->delivery = record_read_u64(reader);
  origin->outcome = record_read_below(reader, OUTCOME_COUNT);
}

/* An item that is for later counts as if it had been pushed at its due time. */
static void set_times(struct item *item, int64_t pushed_ms) {
  item->time_ms = item->pushed_ms = pushed_ms;
  if (!item->note.due_ms || item->note.due_ms <= pushed_ms) return;
  item->late = true;
  item->time_ms = item->note.due_ms;
}

static bool decode_item(struct record_reader *reader, struct item *ret_item,
                        struct origin *ret_origin) {
  struct notification *note = &ret_item->note;
  int64_t pushed_ms = record_read_i64(reader);
  note->ttl_ms = record_read_i64(reader);
  note->level = record_read_below(reader, LEVEL_COUNT);
  note->activation = record_read_below(reader, ACTIVATION_COUNT);
  note->source = record_read_bytes(reader);
  note->name = record_read_bytes(reader);
  note->message = record_read_bytes(reader);
  note->data = record_read_bytes(reader);
  note->key = record_read_bytes(reader);
  note->tool = record_read_bytes(reader);
  note->handle = record_read_bytes(reader);
  note->caused_by = record_read_bytes(reader);
  bool made = reader->at < reader->end;
  note->made_by = made ? record_read_below(reader, MAKER_COUNT) : 0;
  bool occurred = reader->at < reader->end;
  note->occurred_ms = occurred ? record_read_i64(reader) : 0;
  bool more = reader->at < reader->end;
  if (more) decode_origin(reader, ret_origin);
  ret_item->copied = more && ret_origin->item;
  note->due_ms = reader->at < reader->end ? record_read_i64(reader) : 0;
  ret_item->ended = ret_item->copied && ret_origin->delivery && ret_origin->outcome == OUTCOME_NONE;
  ret_item->late =
      ret_item->copied && !ret_origin->delivery && ret_origin->outcome == OUTCOME_CLOSED;
  set_times(ret_item, pushed_ms);
  return record_close(reader) && more == (ret_item->copied || note->due_ms) &&
         occurred == (note->occurred_ms || more) && made == (note->made_by || occurred);
}

bool item_decode(struct record_reader *reader, struct item *ret_item) {
  struct origin unused;
  return decode_item(reader, ret_item, &unused);
}

int item_last(struct store_txn *txn, uint32_t session, const struct head *head, uint64_t *ret_n,
              struct tidings_error *error) {
  uint64_t n;
  int code = row_last(txn, session, ROW_ITEM, &n, error);
  if (!code) *ret_n = n > head->floor ? n : head->floor;
  return code;
}

/* Makes an item without a message of a damaged record. If `arena` is NULL, the item's text stays in
 * the snapshot's memory. */
static int read_item(uint32_t session, uint64_t n, struct tidings_span value, struct arena *arena,
                     struct item *ret_item) {
  struct db_key key = row_key(session, ROW_ITEM, n);
  struct record_reader reader;
  if (arena && arena_copy(arena, value, &value)) return -1;
  *ret_item = (struct item){.n = n};
  if (!record_open(&reader, &key, value) || !item_decode(&reader, ret_item))
    *ret_item = (struct item){.n = n};
  return 0;
}

int item_scan(struct store_txn *txn, uint32_t session, uint64_t first, uint64_t last,
              struct arena *arena, item_visitor each, void *context, struct tidings_error *error) {
  struct db_key from = row_key(session, ROW_ITEM, first);
  struct db_cursor cursor;
  int code = 0, rc = db_cursor_open(txn->db, &cursor);
  if (rc) return db_failed(error, rc, "read items");
  rc = db_cursor_seek(&cursor, &from);
  while (!rc && row_key_is_like(cursor.key, &from) && row_key_n(cursor.key) <= last) {
    struct item item;
    if (read_item(session, row_key_n(cursor.key), cursor.value, arena, &item)) {
      code = fail(error, TIDINGS_E_NOMEM, "no memory for an item");
      break;
    }
    code = each(context, &item);
    if (code) break;
    rc = db_cursor_next(&cursor);
  }
  db_cursor_close(&cursor);
  return rc ? db_failed(error, rc, "read items") : code;
}

int item_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
             struct item *ret_item, struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_ITEM, n);
  struct tidings_span value;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read an item");
  if (!value.ptr)
    return fail(error, TIDINGS_E_NOT_FOUND, "the session has no item %llu", (unsigned long long)n);
  return read_item(session, n, value, arena, ret_item)
             ? fail(error, TIDINGS_E_NOMEM, "no memory for an item")
             : 0;
}

int item_get_origin(struct store_txn *txn, uint32_t session, uint64_t n, struct origin *ret_origin,
                    struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_ITEM, n);
  struct origin origin = {0};
  struct record_reader reader;
  struct tidings_span value;
  struct item item;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read an item");
  if (!value.ptr || !record_open(&reader, &key, value) || !decode_item(&reader, &item, &origin))
    origin = (struct origin){0};
  *ret_origin = origin;
  return 0;
}

int item_take_back(struct store_txn *txn, uint32_t session, uint64_t n,
                   struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_ITEM, n);
  struct buffer copy = BUFFER_EMPTY; /* putting a row may move the row that was read */
  struct tidings_span value;
  if (!db_remote || !db_remote->is_history(txn->db, &key)) return 0;
  int rc = row_get(txn, &key, &value);
  if (!rc && value.ptr) {
    buffer_span(&copy, value);
    rc = copy.failed ? ENOMEM : db_put(txn->db, &key, buffer_view(&copy));
  }
  buffer_free(&copy);
  return rc ? db_failed(error, rc, "keep an item that is pending again") : 0;
}

/* -- pending ----------------------------------------------------------------------------------- */

enum { FIRST_ROOM = 16, LARGEST_FIRST_ROOM = 16384 };

struct item_list {
  struct store_txn *txn;
  uint32_t session;
  struct arena *arena, *text_arena;
  struct item *items; /* not zeroed: touching memory is most of the cost of a delivery */
  size_t count, capacity;
};

static int grow(struct item_list *list, size_t capacity) {
  struct item *items = arena_array(list->arena, capacity, sizeof *items);
  if (!items) return -1;
  if (list->count) memcpy(items, list->items, list->count * sizeof *items);
  list->items = items;
  list->capacity = capacity;
  return 0;
}

/* Makes room for all items that can be pending, but at first for at most LARGEST_FIRST_ROOM,
 * because a damaged head may state any number. */
static int make_room(struct item_list *list, const struct head *head, struct tidings_error *error) {
  uint64_t last = 0, room = 0;
  int code = item_last(list->txn, list->session, head, &last, error);
  if (code) return code;
  if (last >= head->watermark) room = last - head->watermark + 1;
  for (size_t i = 0; i < head->taken_count && room; i++) {
    uint64_t taken = head->taken[i].last - head->taken[i].first + 1;
    room -= taken < room ? taken : room;
  }
  if (room > LARGEST_FIRST_ROOM) room = LARGEST_FIRST_ROOM;
  return grow(list, room ? (size_t)room : FIRST_ROOM)
             ? fail(error, TIDINGS_E_NOMEM, "no memory for what is pending")
             : 0;
}

static int gather_range(struct item_list *list, struct db_cursor *cursor, uint64_t first,
                        uint64_t last, struct tidings_error *error) {
  struct db_key from = row_key(list->session, ROW_ITEM, first);
  int rc = db_cursor_seek(cursor, &from);
  while (!rc && row_key_is_like(cursor->key, &from) && row_key_n(cursor->key) <= last) {
    if (list->count == list->capacity && grow(list, list->capacity * 2))
      return fail(error, TIDINGS_E_NOMEM, "no memory for what is pending");
    if (read_item(list->session, row_key_n(cursor->key), cursor->value, list->text_arena,
                  &list->items[list->count++]))
      return fail(error, TIDINGS_E_NOMEM, "no memory for an item");
    rc = db_cursor_next(cursor);
  }
  return rc ? db_failed(error, rc, "read items") : 0;
}

/* Reads only the gaps between the taken ranges. So if one old item is never shown, the items after
 * it that have ended cost nothing. */
static int gather_pending(struct store_txn *txn, uint32_t session, const struct head *head,
                          struct arena *arena, struct arena *text_arena, struct item **ret_items,
                          size_t *ret_count, struct tidings_error *error) {
  struct item_list list = {
      .txn = txn, .session = session, .arena = arena, .text_arena = text_arena};
  uint64_t first = head->watermark;
  struct db_cursor cursor;
  if (!session) {
    *ret_items = NULL;
    *ret_count = 0;
    return 0;
  }
  int code = make_room(&list, head, error);
  if (code) return code;
  int rc = db_cursor_open(txn->db, &cursor);
  if (rc) return db_failed(error, rc, "read items");
  for (size_t i = 0; !code && i < head->taken_count; i++) {
    if (head->taken[i].first > first)
      code = gather_range(&list, &cursor, first, head->taken[i].first - 1, error);
    first = head->taken[i].last + 1;
  }
  if (!code) code = gather_range(&list, &cursor, first, UINT64_MAX, error);
  db_cursor_close(&cursor);
  if (code) return code;
  *ret_items = list.items;
  *ret_count = list.count;
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
