/* SPDX-License-Identifier: MIT
 *
 * store/rows/meta.c: the first row of a store: its layout, how many sessions it has had, its
 * identity and its incarnation. A copy of a store has the identity of the original, and an
 * incarnation of its own.
 */
#include "common/fnv.h"
#include "store/rows/rows.h"

struct meta {
  uint64_t layout, next;
  struct meta_life life; /* zero in layouts before 4 */
};

/* -- the record -------------------------------------------------------------------------------- */

static void encode_meta(struct buffer *out, const struct meta *meta) {
  record_begin(out);
  record_u64(out, meta->layout);
  record_u64(out, meta->next);
  if (meta->layout < DB_LAYOUT) return;
  record_u64(out, meta->life.identity);
  record_u64(out, meta->life.incarnation);
}

static bool decode_meta(const struct db_key *key, struct tidings_span value,
                        struct meta *ret_meta) {
  struct record_reader reader;
  struct meta meta = {.layout = 0};
  if (!record_open(&reader, key, value)) return false;
  meta.layout = record_read_u64(&reader);
  meta.next = record_read_u64(&reader);
  if (meta.layout >= DB_LAYOUT) {
    meta.life.identity = record_read_u64(&reader);
    meta.life.incarnation = record_read_u64(&reader);
  }
  if (!record_close(&reader) || !meta.next) return false;
  *ret_meta = meta;
  return true;
}

/* Makes a number from this process, the place and the time, and from random bytes if there is a
 * host. */
static uint64_t draw_number(const struct store_options *options, const char *of) {
  struct owner self;
  uint32_t random[2] = {0, 0};
  memset(&self, 0, sizeof self);
  (void)owner_of_process(0, &self);
  for (int i = 0; options->random && i < 2; i++)
    (void)options->random(options->random_context, &random[i], sizeof random[i]);
  uint64_t hash = fnv_span(FNV_START, span_of((const char *)&self, sizeof self));
  hash = fnv_span(hash, span_of((const char *)random, sizeof random));
  hash = fnv_span(hash, span_of((const char *)&options->now_ms, sizeof options->now_ms));
  return fnv_span(fnv_span(hash, span_text(options->directory)), span_text(of));
}

struct meta_life meta_life_fresh(const struct store_options *options) {
  return (struct meta_life){draw_number(options, "identity"), draw_number(options, "incarnation")};
}

struct db_key meta_key(void) {
  return row_key(0, ROW_META, 0);
}

void meta_first(uint64_t layout, const struct meta_life *life, struct buffer *out) {
  const struct db_key key = meta_key();
  const struct meta meta = {.layout = layout, .next = 1, .life = *life};
  encode_meta(out, &meta);
  record_end(out, &key);
}

bool meta_as(const struct db_key *key, struct tidings_span value, const uint64_t *incarnation,
             struct buffer *out) {
  const struct db_key first = meta_key();
  struct meta meta = {.layout = 0};
  if (memcmp(key, &first, sizeof first) != 0 || !decode_meta(key, value, &meta) ||
      meta.layout < DB_LAYOUT_FIRST_ROWS || meta.layout > DB_LAYOUT)
    return false;
  meta.layout = DB_LAYOUT;
  if (incarnation) meta.life.incarnation = *incarnation;
  out->len = 0;
  encode_meta(out, &meta);
  record_end(out, key);
  return !out->failed;
}

/* -- checks ------------------------------------------------------------------------------------ */

/* A newer build may have migrated the store while this one had it open. */
static int refuse_schema(const char *place, uint64_t schema, struct tidings_error *error) {
  if (schema > DB_LAYOUT)
    return fail(error, TIDINGS_E_SCHEMA_NEWER,
                "store %s has schema %llu, this build knows up to %llu; use a newer tidings. The "
                "store was left as it is",
                place, (unsigned long long)schema, (unsigned long long)DB_LAYOUT);
  return fail(
      error, TIDINGS_E_STORE,
      "store %s has schema %llu, this build knows %llu; make a new one from it with 'tidings "
      "store migrate %s NEW'. The store was left as it is",
      place, (unsigned long long)schema, (unsigned long long)DB_LAYOUT, place);
}

/* Refuses the store: this process has read another store here, or a later state of this store. */
static int refuse_replaced(const char *place, struct tidings_error *error) {
  return fail(error, TIDINGS_E_STORE,
              "store %s was replaced by another copy while this process had it open; close it and "
              "open it again",
              place);
}

int meta_check(struct store_txn *txn, struct tidings_error *error) {
  if (db_state(txn->db).before) return 0; /* the write that left these rows has checked */
  const char *place = db_place(txn->store->db);
  struct db_key key = row_key(0, ROW_META, 0);
  struct record_reader reader;
  struct tidings_span value;
  struct meta meta = {.layout = 0};
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read its schema number");
  if (!value.ptr)
    return fail(error, TIDINGS_E_STORE, "store %s has no schema number: it was not made by tidings",
                place);
  if (record_format(&key, value) > RECORD_FORMAT)
    return fail(
        error, TIDINGS_E_SCHEMA_NEWER,
        "store %s has records of a newer format; use a newer tidings. The store was left as it is",
        place);
  bool intact = record_open(&reader, &key, value);
  uint64_t schema = intact ? record_read_u64(&reader) : 0;
  if (intact && !reader.bad && (schema < db_layout || schema > DB_LAYOUT))
    return refuse_schema(place, schema, error);
  if (!intact || !decode_meta(&key, value, &meta))
    return fail(
        error, TIDINGS_E_STORE,
        "store %s: the record of its schema number is damaged; recover what is left with 'tidings "
        "store salvage %s NEW', or restore it from a backup",
        place, place);
  struct store *store = txn->store;
  if (!store->lives) store->life = meta.life; /* set by the thread that opens the store */
  else if (!db_remote && meta_life_differs(&store->life, &meta.life))
    return refuse_replaced(place, error);
  return 0;
}

bool store_has_older_builds(const struct store *store) {
  return db_remote && db_remote->has_older_builds(store->db);
}

static int read_meta(struct store_txn *txn, struct meta *ret_meta, struct tidings_error *error) {
  struct db_key key = row_key(0, ROW_META, 0);
  struct tidings_span value;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read its schema row");
  if (!value.ptr || !decode_meta(&key, value, ret_meta))
    return row_damaged(error, "the schema", 0, 0);
  return 0;
}

static int put_meta(struct store_txn *txn, const struct meta *meta, struct tidings_error *error) {
  struct db_key key = row_key(0, ROW_META, 0);
  struct buffer body = BUFFER_EMPTY;
  encode_meta(&body, meta);
  return row_put(txn, &key, &body, error);
}

/* -- sessions' numbers ------------------------------------------------------------------------- */

/* The lower bits of a session's number are counted, so that the sessions of a machine share no
 * counters and words (limits.h). The upper bits are random and not zero; in the numbers of earlier
 * versions, which were only counted, they are zero. The highest one is zero, so that the ids of
 * deliveries fit into an int64_t: events name them as integers too. Older builds count all numbers,
 * and find the sessions that rang by counting. */
enum { COUNTED_BITS = 7 };

int meta_take_number(struct store_txn *txn, uint32_t *ret_number, struct tidings_error *error) {
  const struct store *store = txn->store;
  struct meta meta = {.layout = 0};
  uint32_t random = 0;
  int code = read_meta(txn, &meta, error);
  if (code) return code;
  bool draws = store->random && !store_has_older_builds(store);
  if (draws && store->random(store->random_context, &random, sizeof random)) random = 0;
  random &= (uint32_t)INT32_MAX >> COUNTED_BITS;
  uint32_t number = random << COUNTED_BITS | (uint32_t)(meta.next & ((1 << COUNTED_BITS) - 1));
  if (number < meta.next)
    number = (uint32_t)meta.next; /* without random bytes, numbers are counted */
  meta.next++;
  code = put_meta(txn, &meta, error);
  if (!code) *ret_number = number;
  return code;
}

int meta_put_next(struct store_txn *txn, uint64_t next, struct tidings_error *error) {
  struct meta meta = {.layout = 0};
  int code = read_meta(txn, &meta, error);
  meta.next = next;
  return code ? code : put_meta(txn, &meta, error);
}
