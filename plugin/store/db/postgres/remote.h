/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/remote.h: this engine's functions for store/db/remote.h.
 */
#ifndef STORE_DB_POSTGRES_REMOTE_H
#define STORE_DB_POSTGRES_REMOTE_H

#include "store/db/postgres/engine.h"

int pg_txn_own(struct db_txn *txn, uint32_t session);
int pg_cursor_open_near(struct db_txn *txn, struct db_cursor *ret_cursor);
bool pg_notes_is_history(struct db_txn *txn, const struct db_key *key);
uint64_t pg_look_stamp(const struct db_txn *txn);
bool pg_look_is_unchanged(struct db *db, uint32_t session, uint64_t stamp, store_deadline deadline,
                          bool *ret_has_answer);
int pg_notes_name_session(struct db_txn *txn, uint32_t session, struct tidings_span name);
void pg_notes_note(struct db_txn *txn, uint32_t session, const struct db_noted *noted);
void pg_notes_ended_below(struct db_txn *txn, uint32_t session, uint8_t kind, uint64_t n);
int pg_notes_tools(struct db_txn *txn, uint32_t session, struct tidings_span json);
bool pg_inbox_waits(const struct db_txn *txn);
int pg_inbox_next(struct db_txn *txn, struct tidings_span *ret_body);
struct db_places pg_inbox_places(const struct db_txn *txn, uint64_t most);
int pg_inbox_seen(struct db_txn *txn, uint32_t session, struct tidings_span source,
                  struct tidings_span id, int64_t since_ms, bool *ret_seen);
int pg_inbox_note(struct db_txn *txn, uint32_t session, struct tidings_span source,
                  struct tidings_span id, int64_t now_ms, int64_t keep_ms);
int pg_inbox_sessions(struct db *db, bool nameless, store_deadline deadline,
                      int (*each)(void *context, struct tidings_span name), void *context,
                      struct tidings_error *error);
int pg_forget(struct db *db, struct tidings_span name, const struct owner *ended,
              store_deadline deadline, struct db_forgotten *counts, bool *ret_done);
int pg_forget_count(struct db *db, struct tidings_span name, store_deadline deadline,
                    struct db_forgotten *ret_counts);
int pg_scan_bring(struct db_txn *txn, uint32_t after, size_t most,
                  int (*each)(void *context, struct tidings_span name, uint32_t number),
                  void *context, uint32_t *ret_next, struct tidings_error *error);
struct db_waiting pg_scan_waiting_of(struct db_txn *txn, uint32_t session);
int pg_figures(struct db_txn *txn, void (*each)(void *context, const struct db_figure *figure),
               void *context);
int pg_dead_letters(struct db_txn *txn, struct tidings_span name, size_t most,
                    int (*each)(void *context, const struct db_dead *dead), void *context,
                    struct tidings_error *error);
bool pg_life_has_older_builds(const struct db *db);
uint32_t pg_life_count(const struct db *db);
#endif
