/* SPDX-License-Identifier: MIT
 *
 * store/rows/dedup.c: which events a session has seen, by CloudEvents source and id. A row's n is a
 * hash of both; the row holds them in full, so a collision is never taken for a duplicate. Only
 * events that have an id have such a row.
 */
#include "common/fnv.h"
#include "store/rows/rows.h"

enum { PROBED_PLACES = 8 };

static uint64_t hash_event(struct tidings_span source, struct tidings_span id) {
  uint64_t hash = fnv_byte(fnv_span(FNV_START, source), '\0');
  return fnv_span(hash, id) & ~(uint64_t)0xf;
}

struct place {
  struct db_key key;
  bool found;
  int64_t time_ms;
};

/* Finds the row of this event. If it has none, finds a place for it: a free one, or else the place
 * of the oldest event with which it collides. */
static int find_event(struct store_txn *txn, uint32_t session, struct tidings_span source,
                      struct tidings_span id, struct place *ret_place,
                      struct tidings_error *error) {
  uint64_t hash = hash_event(source, id);
  struct place oldest = {.time_ms = INT64_MAX};
  for (uint64_t i = 0; i < PROBED_PLACES; i++) {
    struct place here = {.key = row_key(session, ROW_DEDUP, hash + i)};
    struct record_reader reader;
    struct tidings_span value;
    int rc = row_get(txn, &here.key, &value);
    if (rc) return db_failed(error, rc, "look for a duplicate");
    bool intact = value.ptr && record_open(&reader, &here.key, value);
    if (intact) {
      here.time_ms = record_read_i64(&reader);
      (void)record_read_i64(&reader); /* how long it is kept */
      struct tidings_span stored_source = record_read_bytes(&reader),
                          stored_id = record_read_bytes(&reader);
      intact = record_close(&reader);
      here.found = intact && span_equal(stored_source, source) && span_equal(stored_id, id);
    }
    if (here.found || !intact) { /* a missing or damaged row leaves its place free */
      *ret_place = here;
      return 0;
    }
    if (here.time_ms < oldest.time_ms) oldest = here;
  }
  *ret_place = oldest;
  return 0;
}

struct db_event dedup_event(uint32_t session, struct tidings_span source, struct tidings_span id,
                            int64_t since_ms) {
  return (struct db_event){.source = source,
                           .id = id,
                           .since_ms = since_ms,
                           .row = row_key(session, ROW_DEDUP, hash_event(source, id))};
}

int dedup_seen(struct store_txn *txn, uint32_t session, struct tidings_span source,
               struct tidings_span id, int64_t since_ms, int64_t until_ms, bool *ret_seen,
               struct tidings_error *error) {
  struct place place = {.found = false};
  int code = find_event(txn, session, source, id, &place, error);
  if (code) return code;
  *ret_seen = place.found && place.time_ms >= since_ms && place.time_ms <= until_ms;
  int rc = *ret_seen || !db_remote
               ? 0
               : db_remote->inbox_seen(txn->db, session, source, id, since_ms, ret_seen);
  return rc ? db_failed(error, rc, "look for a duplicate") : 0;
}

int dedup_put(struct store_txn *txn, uint32_t session, struct tidings_span source,
              struct tidings_span id, int64_t now_ms, int64_t keep_ms,
              struct tidings_error *error) {
  struct place place = {.found = false};
  struct buffer body = BUFFER_EMPTY;
  int code = find_event(txn, session, source, id, &place, error);
  if (code) return code;
  record_begin(&body);
  record_i64(&body, now_ms);
  record_i64(&body, keep_ms);
  record_bytes(&body, source);
  record_bytes(&body, id);
  code = row_put(txn, &place.key, &body, error);
  int rc =
      code || !db_remote ? 0 : db_remote->inbox_note(txn->db, session, source, id, now_ms, keep_ms);
  return rc ? db_failed(error, rc, "remember an event") : code;
}
