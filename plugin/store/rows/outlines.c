/* SPDX-License-Identifier: MIT
 *
 * store/rows/outlines.c: rows that hold the outlines of many items, so that a caller that looks at
 * all pending items need not read the items. Row number r has the outlines of the items whose
 * numbers divided by OUTLINE_ITEMS are r. The push of the last of these items writes the row, which
 * never changes, because items never change. If a row is missing or damaged, the items themselves
 * are read, which only takes longer.
 */
#include "store/outlines.h"
#include "store/rows/rows.h"

enum { OUTLINE_ITEMS = 128, LARGEST_ROW = 8192, SORT_BITS = 2 };

struct outlines {
  struct outline_kind kinds[OUTLINE_ITEMS];
  struct outline outlines[OUTLINE_ITEMS];
  size_t kind_count, count;
};

uint64_t outline_row_of(uint64_t n) { return n / OUTLINE_ITEMS; }
static uint64_t row_begin(uint64_t row) { return row * OUTLINE_ITEMS; }

/* -- writing ----------------------------------------------------------------------------------- */

/* The outline's text stays in the snapshot's memory. */
static int gather_outline(void *context, const struct item *item) {
  struct outlines *all = context;
  struct outline_kind kind;
  size_t k = all->kind_count;
  if (all->count == OUTLINE_ITEMS) return 0;
  struct outline outline = outline_of(item, &kind);
  while (k && !outline_kind_equal(&all->kinds[k - 1], &kind)) k--;
  if (!k) {
    all->kinds[all->kind_count++] = kind;
    k = all->kind_count;
  }
  outline.kind = &all->kinds[k - 1];
  all->outlines[all->count++] = outline;
  return 0;
}

static void encode_one(struct buffer *out, const struct outlines *all, size_t i) {
  const struct outline *outline = &all->outlines[i];
  const struct outline *before = i ? &all->outlines[i - 1] : NULL;
  uint64_t kind = (uint64_t)(outline->kind - all->kinds);
  uint64_t ends =
      outline->ends_ms == INT64_MAX ? 0 : (uint64_t)outline->ends_ms - (uint64_t)outline->time_ms;
  uint64_t step = outline->n, later_ms = (uint64_t)outline->time_ms;
  if (before) {
    step -= before->n;
    later_ms -= (uint64_t)before->time_ms;
  }
  record_u64(out, step);
  record_u64(out, (kind << 1 | outline->rings) << SORT_BITS | outline->sort);
  record_i64(out, (int64_t)later_ms);
  record_u64(out, ends);
  record_u64(out, outline->bytes);
  buffer_append(out, &outline->message, sizeof outline->message);
}

static void encode_outlines(struct buffer *out, const struct outlines *all) {
  record_begin(out);
  record_u64(out, all->kind_count);
  for (size_t i = 0; i < all->kind_count; i++) {
    record_u64(out, all->kinds[i].level);
    record_bytes(out, all->kinds[i].source);
    record_bytes(out, all->kinds[i].name);
    record_bytes(out, all->kinds[i].tool);
  }
  record_u64(out, all->count);
  for (size_t i = 0; i < all->count; i++) encode_one(out, all, i);
}

/* Writes no row if the kinds are as many and as long as the items, because it would save
 * nothing. */
int outlines_note(struct store_txn *txn, uint32_t session, uint64_t n,
                  struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_OUTLINES, outline_row_of(n));
  struct buffer body = BUFFER_EMPTY;
  struct outlines all;
  if (db_remote || (n + 1) % OUTLINE_ITEMS) return 0;
  all.kind_count = all.count = 0;
  int code = item_scan(txn, session, n + 1 - OUTLINE_ITEMS, n, NULL, gather_outline, &all, error);
  if (code) return code;
  encode_outlines(&body, &all);
  if (!body.failed && body.len <= LARGEST_ROW) return row_put(txn, &key, &body, error);
  buffer_free(&body);
  return 0;
}

/* -- reading ----------------------------------------------------------------------------------- */

static bool decode_kind(struct record_reader *reader, struct outline_kind *kind) {
  *kind = (struct outline_kind){.level = record_read_below(reader, LEVEL_COUNT)};
  kind->source = record_read_bytes(reader);
  kind->name = record_read_bytes(reader);
  kind->tool = record_read_bytes(reader);
  return !reader->bad;
}

static bool decode_one(struct record_reader *reader, struct outlines *all, uint64_t row) {
  const struct outline *before = all->count ? &all->outlines[all->count - 1] : NULL;
  struct outline *outline = &all->outlines[all->count];
  uint64_t step = record_read_u64(reader), what = record_read_u64(reader);
  int64_t later_ms = record_read_i64(reader);
  uint64_t ends = record_read_u64(reader), bytes = record_read_u64(reader);
  uint64_t kind = what >> (SORT_BITS + 1);
  outline->sort = what & ((1 << SORT_BITS) - 1);
  outline->rings = what >> SORT_BITS & 1;
  outline->n = step;
  if (before) outline->n += before->n;
  outline->time_ms = later_ms;
  if (before) outline->time_ms = (int64_t)((uint64_t)before->time_ms + (uint64_t)later_ms);
  outline->ends_ms = ends ? (int64_t)((uint64_t)outline->time_ms + ends) : INT64_MAX;
  outline->bytes = (uint32_t)bytes;
  if (reader->bad || (size_t)(reader->end - reader->at) < sizeof outline->message) return false;
  memcpy(&outline->message, reader->at, sizeof outline->message);
  reader->at += sizeof outline->message;
  if (kind >= all->kind_count || outline->sort >= OUTLINE_SORT_COUNT || bytes > UINT32_MAX ||
      (before && !step) || outline_row_of(outline->n) != row)
    return false;
  outline->kind = &all->kinds[kind];
  all->count++;
  return true;
}

static bool decode_outlines(const struct db_cursor *cursor, uint64_t row, struct outlines *all) {
  struct record_reader reader;
  struct db_key key;
  memcpy(key.bytes, cursor->key, DB_KEY_BYTES);
  all->kind_count = all->count = 0;
  if (!record_open(&reader, &key, cursor->value)) return false;
  size_t kinds = record_read_count(&reader, 4);
  if (kinds > OUTLINE_ITEMS) return false;
  for (; all->kind_count < kinds; all->kind_count++)
    if (!decode_kind(&reader, &all->kinds[all->kind_count])) return false;
  size_t count = record_read_count(&reader, 13);
  if (count > OUTLINE_ITEMS) return false;
  while (all->count < count)
    if (!decode_one(&reader, all, row)) return false;
  return record_close(&reader);
}

struct outline_scan {
  outline_visitor each;
  void *context;
};

static int pass_item(void *context, const struct item *item) {
  const struct outline_scan *scan = context;
  struct outline_kind kind;
  const struct outline outline = outline_of(item, &kind);
  return scan->each(scan->context, &outline);
}

static int pass_outlines(const struct outline_scan *scan, const struct outlines *all,
                         uint64_t first, uint64_t last) {
  int code = 0;
  for (size_t i = 0; !code && i < all->count; i++)
    if (all->outlines[i].n >= first && all->outlines[i].n <= last)
      code = scan->each(scan->context, &all->outlines[i]);
  return code;
}

/* Items that no row of outlines covers are read one by one. */
static int read_outlines(struct store_txn *txn, uint32_t session, struct db_cursor *cursor,
                         uint64_t first, uint64_t last, struct outline_scan *scan,
                         struct tidings_error *error) {
  struct db_key from = row_key(session, ROW_OUTLINES, outline_row_of(first));
  struct outlines all;
  int code = 0, rc = db_cursor_seek(cursor, &from);
  while (!rc && !code && row_key_is_like(cursor->key, &from)) {
    uint64_t row = row_key_n(cursor->key), begin = row_begin(row);
    if (row > outline_row_of(last)) break;
    if (decode_outlines(cursor, row, &all)) {
      if (begin > first)
        code = item_scan(txn, session, first, begin - 1, NULL, pass_item, scan, error);
      if (!code) code = pass_outlines(scan, &all, first, last);
      first = row_begin(row + 1);
    }
    if (!code) rc = db_cursor_next(cursor);
  }
  if (rc) return db_failed(error, rc, "read outlines");
  if (code || first > last) return code;
  return item_scan(txn, session, first, last, NULL, pass_item, scan, error);
}

int outline_scan(struct store_txn *txn, uint32_t session, uint64_t first, uint64_t last,
                 outline_visitor each, void *context, struct tidings_error *error) {
  struct outline_scan scan = {each, context};
  struct db_cursor cursor;
  if (db_remote) return item_scan(txn, session, first, last, NULL, pass_item, &scan, error);
  int rc = db_cursor_open(txn->db, &cursor);
  if (rc) return db_failed(error, rc, "read outlines");
  int code = read_outlines(txn, session, &cursor, first, last, &scan, error);
  db_cursor_close(&cursor);
  return code;
}

/* Skips only long runs of ended items. The items of a short run are reported too, and the caller
 * skips them: otherwise a row would be read twice. */
int outline_live(struct store_txn *txn, uint32_t session, const struct head *head, uint64_t first,
                 outline_visitor each, void *context, struct tidings_error *error) {
  enum { LONG_RUN = 2 * OUTLINE_ITEMS };
  uint64_t last = 0;
  if (!session) return 0;
  int code = item_last(txn, session, head, &last, error);
  if (first < head->watermark) first = head->watermark;
  for (size_t i = 0; !code && i < head->taken_count; i++) {
    const struct taken *taken = &head->taken[i];
    if (taken->delivery || taken->last - taken->first < LONG_RUN || taken->last < first) continue;
    if (taken->first > first)
      code = outline_scan(txn, session, first, taken->first - 1, each, context, error);
    first = taken->last + 1;
  }
  return code || first > last ? code
                              : outline_scan(txn, session, first, last, each, context, error);
}
