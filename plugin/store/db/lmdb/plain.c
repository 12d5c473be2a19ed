/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/plain.c: functions of the interface that this engine does not need: it has one
 * writer and no inbox, and reads history like everything else.
 */
#include "store/db/db.h"

int db_own(struct db_txn *txn, uint32_t session) {
  (void)txn;
  (void)session;
  return 0;
}

int db_cursor_open_near(struct db_txn *txn, struct db_cursor *ret_cursor) {
  return db_cursor_open(txn, ret_cursor);
}

int db_name_session(struct db_txn *txn, uint32_t session, struct tidings_span name) {
  (void)txn;
  (void)session;
  (void)name;
  return 0;
}

void db_ended_below(struct db_txn *txn, uint32_t session, uint8_t kind, uint64_t n) {
  (void)txn;
  (void)session;
  (void)kind;
  (void)n;
}

bool db_is_history(struct db_txn *txn, const struct db_key *key) {
  (void)txn;
  (void)key;
  return false;
}

void db_note(struct db_txn *txn, uint32_t session, const struct db_noted *noted) {
  (void)txn;
  (void)session;
  (void)noted;
}

int db_note_tools(struct db_txn *txn, uint32_t session, struct tidings_span json) {
  (void)txn;
  (void)session;
  (void)json;
  return 0;
}

uint64_t db_layout(void) { return DB_LAYOUT_FOLDER; }

bool db_forgets_by_itself(const struct db *db) {
  (void)db;
  return false;
}

uint64_t db_stamp(const struct db_txn *txn) {
  (void)txn;
  return 0;
}

bool db_is_unchanged(struct db *db, uint32_t session, uint64_t stamp, store_deadline deadline,
                     bool *ret_asked) {
  (void)db;
  (void)session;
  (void)stamp;
  (void)deadline;
  *ret_asked = false;
  return false;
}

bool db_inbox_waits(const struct db_txn *txn) {
  (void)txn;
  return false;
}

int db_inbox_next(struct db_txn *txn, struct tidings_span *ret_body) {
  (void)txn;
  *ret_body = span_of(NULL, 0);
  return 0;
}

struct db_places db_inbox_places(const struct db_txn *txn, uint64_t most) {
  (void)txn;
  (void)most;
  return (struct db_places){0, 0};
}

int db_inbox_seen(struct db_txn *txn, uint32_t session, struct tidings_span source,
                  struct tidings_span id, int64_t since_ms, bool *ret_seen) {
  (void)txn;
  (void)session;
  (void)source;
  (void)id;
  (void)since_ms;
  *ret_seen = false;
  return 0;
}

int db_inbox_note(struct db_txn *txn, uint32_t session, struct tidings_span source,
                  struct tidings_span id, int64_t now_ms, int64_t keep_ms) {
  (void)txn;
  (void)session;
  (void)source;
  (void)id;
  (void)now_ms;
  (void)keep_ms;
  return 0;
}

int db_inbox_sessions(struct db *db, store_deadline deadline,
                      int (*each)(void *context, struct tidings_span name), void *context,
                      struct tidings_error *error) {
  (void)db;
  (void)deadline;
  (void)each;
  (void)context;
  (void)error;
  return 0;
}
