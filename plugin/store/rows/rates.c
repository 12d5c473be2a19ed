/* SPDX-License-Identifier: MIT
 *
 * store/rows/rates.c: how many notifications each source has pushed in its running minute. The
 * minute of a source begins with its first push after its last minute has ended. There are rows
 * only where a limit is configured. A row's n is a hash of the source, and the row holds the whole
 * source. So sources whose hashes collide are counted apart, unless there are more of them than
 * places.
 */
#include "common/fnv.h"
#include "store/rows/rows.h"

enum { RATE_PLACES = 8, FORGOTTEN_AT_ONCE = 8 };

struct rate {
  struct db_key key;
  int64_t since_ms;
  uint64_t count;
};

/* Spreads the last bits of the hash: rows to forget are found by chance, so similar names must not
 * be neighbours. */
static uint64_t hash_source(struct tidings_span source) {
  uint64_t hash = fnv_span(FNV_START, source);
  hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
  return (hash ^ hash >> 32) & ~(uint64_t)(RATE_PLACES - 1);
}

/* A clock that was put back ends the minute as well. */
static bool is_minute_over(int64_t since_ms, int64_t now_ms) {
  int64_t passed;
  return __builtin_sub_overflow(now_ms, since_ms, &passed) || passed < 0 ||
         passed >= RATE_MINUTE_MS;
}

/* A damaged row counts nothing. */
static bool decode_rate(const struct db_key *key, struct tidings_span value, struct rate *ret_rate,
                        struct tidings_span *ret_source) {
  struct record_reader reader;
  if (!value.ptr || !record_open(&reader, key, value)) return false;
  struct rate rate = {.key = *key};
  rate.since_ms = record_read_i64(&reader);
  rate.count = record_read_u64(&reader);
  *ret_source = record_read_bytes(&reader);
  if (!record_close(&reader)) return false;
  *ret_rate = rate;
  return true;
}

bool rate_is_over(const struct db_key *key, struct tidings_span value, int64_t now_ms) {
  struct tidings_span source;
  struct rate rate;
  return !decode_rate(key, value, &rate, &source) || is_minute_over(rate.since_ms, now_ms);
}

/* Finds the row of this source. If it has none, returns count 0 and a place for it: a free one, or
 * else the place of the oldest source with which it collides. */
static int find_rate(struct store_txn *txn, uint32_t session, struct tidings_span source,
                     struct rate *ret_rate, struct tidings_error *error) {
  uint64_t hash = hash_source(source);
  struct rate place = {.since_ms = INT64_MAX};
  for (uint64_t i = 0; i < RATE_PLACES; i++) {
    struct db_key key = row_key(session, ROW_RATE, hash + i);
    struct tidings_span value, stored = span_of(NULL, 0);
    struct rate here;
    int rc = row_get(txn, &key, &value);
    if (rc) return db_failed(error, rc, "look up how much a source has pushed");
    bool intact = decode_rate(&key, value, &here, &stored);
    if (intact && span_equal(stored, source)) {
      *ret_rate = here;
      return 0;
    }
    if (!intact) here = (struct rate){.key = key, .since_ms = INT64_MIN};
    if (!i || here.since_ms < place.since_ms) place = here;
    if (!value.ptr) break;
  }
  place.count = 0;
  *ret_rate = place;
  return 0;
}

/* Deletes some of the rows after `from` whose minute is over, so that they do not accumulate. */
static int forget_some_rates(struct store_txn *txn, const struct db_key *from, int64_t now_ms) {
  struct db_key gone[FORGOTTEN_AT_ONCE];
  struct db_cursor cursor;
  size_t count = 0;
  int rc = db_cursor_open(txn->db, &cursor);
  if (rc) return rc;
  rc = db_cursor_seek(&cursor, from);
  for (size_t i = 0; !rc && i < FORGOTTEN_AT_ONCE && row_key_is_like(cursor.key, from); i++) {
    struct db_key key;
    memcpy(key.bytes, cursor.key, sizeof key.bytes);
    if (rate_is_over(&key, cursor.value, now_ms)) gone[count++] = key;
    rc = db_cursor_next(&cursor);
  }
  db_cursor_close(&cursor);
  for (size_t i = 0; !rc && i < count; i++) rc = db_delete(txn->db, &gone[i]);
  return rc;
}

int rate_take(struct store_txn *txn, uint32_t session, struct tidings_span source, int64_t now_ms,
              uint32_t limit, int64_t *ret_wait_ms, struct tidings_error *error) {
  struct buffer body = BUFFER_EMPTY;
  struct rate rate = {.count = 0};
  int code = find_rate(txn, session, source, &rate, error);
  if (code) return code;
  if (!rate.count || is_minute_over(rate.since_ms, now_ms)) {
    int rc = forget_some_rates(txn, &rate.key, now_ms);
    if (rc) return db_failed(error, rc, "forget how much sources have pushed");
    rate.since_ms = now_ms;
    rate.count = 0;
  }
  *ret_wait_ms = rate.count < limit ? 0 : rate.since_ms - now_ms + RATE_MINUTE_MS;
  if (*ret_wait_ms) return 0;
  record_begin(&body);
  record_i64(&body, rate.since_ms);
  record_u64(&body, rate.count + 1);
  record_bytes(&body, source);
  return row_put(txn, &rate.key, &body, error);
}
