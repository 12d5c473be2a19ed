/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/txn.c: transactions. A read takes one round trip, and leaves no transaction
 * open. A write takes two: the first one locks the session's row and reads the live rows, the
 * second one writes and commits. A write to a session that this process has already read needs only
 * the second one. Each session that was not declared takes one more round trip.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "store/db/postgres/life.h"
#include "store/db/postgres/remote.h"

int pg_fail_in(const struct db *db, int rc, const char *what, struct tidings_error *error) {
  struct tidings_error inner = {.size = sizeof inner};
  int code = db_failed(&inner, rc, what);
  return fail(error, code, "store %s: %s", db->place.shown, inner.text);
}

/* -- sessions in a transaction ----------------------------------------------------------------- */

static int send_lock(struct pg_conn *conn, const struct pg_session *session) {
  struct pg_params params = {.count = 0};
  bool named = !session->number && session->name;
  if (named) pg_param_bytes(&params, span_text(session->name));
  else pg_param_int8(&params, session->number);
  return pg_send(conn, named ? PG_LOCK_NAMED : PG_LOCK, &params);
}

enum pg_statement pg_txn_name_lock(const struct db *db) {
  return db->revision < PG_SCHEMA_OF_DAYS ? PG_LOCK_NAME_OLDER : PG_LOCK_NAME;
}

int pg_txn_begin_on_server(struct pg_txn *engine, size_t *ret_count) {
  struct pg_params version = {.count = 0};
  pg_conn_limit(engine->conn, engine->deadline, false);
  int rc = pg_send(engine->conn, PG_BEGIN, NULL);
  engine->begun = true;
  *ret_count = 1;
  if (rc || !engine->unlocked) return rc;
  engine->unlocked = false;
  engine->asks_version = true;
  pg_param_int8(&version, engine->declared->number);
  pg_param_int8(&version, engine->declared->version);
  if (engine->declared->name) pg_param_bytes(&version, span_text(engine->declared->name));
  else pg_param_null(&version);
  *ret_count = 2;
  return pg_send(engine->conn, PG_LOCK_VERSION, &version);
}

/* If PG_LOCK_VERSION followed BEGIN, checks that the session still has the version that was read.
 */
static int check_version(struct pg_txn *engine, PGresult *const *results) {
  bool same = !engine->asks_version || pg_int8(results[1], 0, 0);
  engine->asks_version = false;
  return same ? 0 : PG_E_OUTDATED;
}

/* Queues the statement that loads the session, or, if it was loaded before, the one that looks for
 * changes. Then waits for the results, and for those of the `before` statements that were queued
 * already. */
static int take_loaded(struct db_txn *txn, struct pg_session *session, size_t before,
                       const struct db_scope *scope) {
  enum { MOST = 10 };
  struct pg_txn *engine = pg_engine(txn);
  const struct pg_ahead ahead = pg_ahead_of(txn->db, session, scope);
  PGresult *results[MOST];
  bool looks = !session->again && session->exists && session->version >= 0 &&
               !session->folded_count && session->name;
  bool times = looks && pg_clock_is_old(txn->db); /* PG_LOAD returns the time too */
  size_t count = before + times + ahead.count + 1;
  int rc = times ? pg_send(engine->conn, PG_CLOCK, NULL) : 0;
  if (!rc) rc = pg_ahead_send(engine->conn, session, &ahead);
  if (!rc && looks) rc = pg_session_send_look(engine->conn, session);
  else if (!rc) rc = pg_session_send_load(engine->conn, session);
  if (rc) return rc;
  rc = pg_run(txn->db, engine->conn, engine->deadline, results, count);
  if (!rc) rc = check_version(engine, results);
  if (!rc && times) pg_clock_take(txn->db, results[before]);
  if (!rc && looks) rc = pg_session_looked(txn->db, session, results[count - 1]);
  else if (!rc) rc = pg_session_loaded(txn->db, session, results[count - 1]);
  if (!rc) rc = pg_ahead_take(txn, session, &ahead, results + before + times);
  for (size_t i = 0; i < count; i++) PQclear(results[i]);
  return rc;
}

/* If the server does not know a name that this process remembers, the session was forgotten, and
 * all that the process has cached by number is void. */
static void check_absent(struct db *db, const struct pg_session *session,
                         const struct db_scope *scope) {
  if (session->number || session->exists || !scope->prefetches) return;
  pthread_mutex_lock(&db->lock);
  bool kept = pg_map_get(&db->store_rows, scope->wanted.bytes[4], pg_key_n(&scope->wanted));
  pthread_mutex_unlock(&db->lock);
  if (kept) pg_void(db);
}

/* Loads the session in one round trip, which in a write also locks it; a second one follows if
 * another process wrote to it. Two writers may meet before the session exists: the second waits for
 * the first, at the lock of the name. Otherwise both would take the pushes in the inbox. */
static int load(struct db_txn *txn, struct pg_session *session, const struct db_scope *scope) {
  struct pg_txn *engine = pg_engine(txn);
  bool locks = txn->access == DB_WRITES;
  struct pg_params name = {.count = 0};
  size_t before = 0;
  int rc = locks && !engine->begun ? pg_txn_begin_on_server(engine, &before) : 0;
  if (!rc && locks && !session->number) {
    pg_param_bytes(&name, span_text(session->name));
    rc = pg_send(engine->conn, pg_txn_name_lock(txn->db), &name);
    before++;
  }
  if (!rc && locks) {
    rc = send_lock(engine->conn, session);
    before++;
  }
  if (!rc) rc = take_loaded(txn, session, before, scope);
  while (!rc && session->again) rc = take_loaded(txn, session, 0, NULL);
  if (!rc && session->number && scope->session && scope->name.len && !session->exists) {
    pg_void(txn->db);
    rc = PG_E_MOVED;
  }
  if (!rc) check_absent(txn->db, session, scope);
  if (rc) engine->failing = true;
  return rc;
}

static int add_session(struct db_txn *txn, struct pg_session *session) {
  struct pg_txn *engine = pg_engine(txn);
  if (engine->count == TOUCHED_SESSIONS) return PG_E_REFUSED;
  engine->sessions[engine->count++] = session;
  return 0;
}

/* Takes the session as this process has read it, without asking the server. False: this process has
 * not read it. */
static bool take_as_read(struct db_txn *txn, struct pg_session *session) {
  if (!session->exists || session->version < 0 || pg_clock_is_old(txn->db)) return false;
  pg_session_as_read(txn->db, session);
  pg_engine(txn)->unlocked = txn->may_be_stale = true;
  return true;
}

/* Takes a snapshot of a session that this process has just read. */
static bool take_as_looked(const struct db_txn *txn, struct pg_session *session,
                           const struct db_scope *scope) {
  bool taken = scope->goes_by_look && txn->access == DB_READS && session->exists &&
               session->version >= 0 && !session->again && !session->folded_count;
  if (taken) pg_session_as_read(txn->db, session);
  return taken;
}

/* The store's own rows are not loaded here; they are read one by one. */
static int open_session(struct db_txn *txn, const struct db_scope *scope,
                        struct pg_session **ret_session) {
  uint32_t number = scope->session;
  struct tidings_span name = scope->name;
  bool optimistic = scope->optimistic && txn->access == DB_WRITES;
  struct pg_session *session = pg_session_take(txn->db, number, name);
  if (!session) return ENOMEM;
  if (!number && !name.len) memset(session->near, 0xff, sizeof session->near);
  bool has_answer = scope->has_answer && session->has_answer;
  session->has_answer = false;
  if (has_answer) pg_session_as_read(txn->db, session);
  else pg_session_drop_waiting(session);
  bool loads = (number || name.len) && !has_answer && !txn->db->only_pushes &&
               !(optimistic && take_as_read(txn, session)) && !take_as_looked(txn, session, scope);
  int rc = loads ? load(txn, session, scope) : 0;
  if (!rc) rc = add_session(txn, session);
  if (rc) pg_session_free(session);
  else *ret_session = session;
  return rc;
}

int pg_txn_session(struct db_txn *txn, uint32_t number, struct pg_session **ret_session) {
  struct pg_txn *engine = pg_engine(txn);
  struct pg_session *declared = engine->declared;
  if (engine->failing) return PG_E_LOST;
  for (size_t i = 0; i < engine->count; i++) {
    if (engine->sessions[i]->number != number || (!number && engine->sessions[i] == declared))
      continue;
    *ret_session = engine->sessions[i];
    return 0;
  }
  int rc = pg_scan_find(txn, number, ret_session);
  if (rc || *ret_session) return rc;
  return open_session(txn, &(struct db_scope){.session = number}, ret_session);
}

static int send_own_rows(struct pg_conn *conn, const struct pg_session *own) {
  struct pg_keys keys;
  struct pg_params params = {.count = 0};
  pg_keys_begin(&keys, own->absent_count);
  for (size_t i = 0; i < own->absent_count; i++)
    pg_keys_add(&keys, own->absent[i].kind, own->absent[i].n);
  int rc = pg_keys_param(&keys, &params);
  if (!rc) rc = pg_send(conn, PG_OWN_ROWS, &params);
  pg_keys_free(&keys);
  return rc;
}

/* Takes the rows of session 0 that are new since it was read without a lock. */
static int take_own_rows(struct pg_session *own, const PGresult *result) {
  for (int i = 0; i < PQntuples(result); i++) {
    uint8_t kind = (uint8_t)PQgetvalue(result, i, 0)[1];
    size_t len = (size_t)PQgetlength(result, i, 2);
    uint64_t n = (uint64_t)pg_int8(result, i, 1) ^ (uint64_t)1 << 63;
    struct pg_row *row = pg_map_put(&own->map, kind, n, len);
    if (!row) return ENOMEM;
    memcpy(row->value, PQgetvalue(result, i, 2), len);
  }
  own->own = true;
  return 0;
}

/* Locks session 0. All other sessions are locked when they are loaded. */
int pg_txn_own(struct db_txn *txn, uint32_t number) {
  enum { MOST = 6 };
  struct pg_txn *engine = pg_engine(txn);
  struct pg_session *session = NULL;
  PGresult *results[MOST];
  size_t before = 0;
  int rc = pg_txn_session(txn, number, &session);
  if (rc || number || session->own) return rc;
  if (!engine->begun) rc = pg_txn_begin_on_server(engine, &before);
  if (!rc) rc = send_lock(engine->conn, session);
  if (!rc) rc = send_own_rows(engine->conn, session);
  if (rc) return rc;
  rc = pg_run(txn->db, engine->conn, engine->deadline, results, before + 2);
  if (!rc) rc = check_version(engine, results);
  if (!rc) rc = take_own_rows(session, results[before + 1]);
  for (size_t i = 0; i < before + 2; i++) PQclear(results[i]);
  if (rc) engine->failing = true;
  return rc;
}

/* -- begin ------------------------------------------------------------------------------------- */

void pg_txn_release(struct db_txn *txn, bool keep) {
  struct pg_txn *engine = pg_engine(txn);
  for (size_t i = 0; i < engine->count; i++) {
    struct pg_session *session = engine->sessions[i];
    if (keep && (!session->written || txn->access == DB_READS)) pg_session_give(txn->db, session);
    else pg_session_free(session);
  }
  if (engine->conn) pg_conn_give(txn->db, engine->conn);
  pg_inbox_drop_noted(engine);
  pg_scan_free(&engine->scan);
  free(engine);
  txn->engine = NULL;
}

static int begin(struct db *db, const struct db_scope *scope, store_deadline deadline,
                 struct db_txn *txn, struct tidings_error *error) {
  struct pg_txn *engine = calloc(1, sizeof *engine);
  if (!engine) return fail(error, TIDINGS_E_NOMEM, "no memory for a transaction");
  txn->db = db;
  txn->engine = engine;
  engine->deadline = deadline;
  int code = pg_conn_take(db, deadline, &engine->conn, error);
  if (!code && scope && (scope->session || scope->name.len)) {
    int rc = open_session(txn, scope, &engine->declared);
    if (rc) code = pg_fail_in(db, rc, "begin", error);
  }
  if (code) pg_txn_release(txn, false);
  return code;
}

int db_read(struct db *db, const struct db_scope *scope, store_deadline deadline,
            struct db_txn *ret_txn, struct tidings_error *error) {
  ret_txn->access = DB_READS;
  return begin(db, scope, deadline, ret_txn, error);
}

int db_write(struct db *db, const struct db_scope *scope, store_deadline deadline,
             struct db_txn *ret_txn, struct tidings_error *error) {
  ret_txn->access = DB_WRITES;
  return begin(db, scope, deadline, ret_txn, error);
}

/* Reads within the writing transaction itself, because no other transaction sees its changes before
 * it ends. */
int db_look_on(const struct db_txn *writing, struct db_txn *ret_txn) {
  *ret_txn = *writing;
  ret_txn->access = DB_LOOKS_ON;
  return 0;
}

void pg_roll_back(struct db *db, struct pg_txn *engine) {
  PGresult *result;
  if (!engine->begun || !engine->conn) return;
  engine->conn->limit_ms = 0; /* a limit that was set in this transaction is rolled back */
  if (pg_send(engine->conn, PG_ROLLBACK, NULL) ||
      pg_run(db, engine->conn, engine->deadline, &result, 1))
    return; /* the connection is closed when it is given back; the server then rolls back */
  PQclear(result);
}

void db_end(struct db_txn *txn) {
  if (txn->access == DB_LOOKS_ON || !txn->engine) return;
  pg_roll_back(txn->db, pg_engine(txn));
  pg_txn_release(txn, !pg_engine(txn)->failing);
}

/* -- rows that are not loaded ------------------------------------------------------------------ */

int pg_txn_fetch(struct db_txn *txn, enum pg_statement statement, const struct pg_params *params,
                 PGresult **ret_result) {
  struct pg_txn *engine = pg_engine(txn);
  int rc = pg_send(engine->conn, statement, params);
  if (!rc) rc = pg_run(txn->db, engine->conn, engine->deadline, ret_result, 1);
  if (rc) engine->failing = true;
  return rc;
}

int pg_txn_fetch_one(struct db_txn *txn, struct pg_session *session, uint8_t kind, uint64_t n,
                     bool *ret_found) {
  struct pg_params params = {.count = 0};
  PGresult *result = NULL;
  *ret_found = false;
  if (txn->db->only_pushes) return 0;
  pg_param_row(&params, session->number, kind, n);
  int rc = pg_txn_fetch(txn, PG_FETCH_ONE, &params, &result);
  *ret_found = !rc && PQntuples(result);
  if (*ret_found) {
    size_t len = (size_t)PQgetlength(result, 0, 0);
    struct pg_row *row = pg_map_put(&session->map, kind, n, len);
    if (row) memcpy(row->value, PQgetvalue(result, 0, 0), len);
    else rc = ENOMEM;
  }
  PQclear(result);
  return rc;
}

int pg_txn_fetch_range(struct db_txn *txn, struct pg_session *session, uint8_t kind, uint64_t n) {
  struct pg_params params = {.count = 0};
  PGresult *result = NULL;
  session->near[kind] = txn->db->only_pushes ? n : session->near[kind];
  if (txn->db->only_pushes) return 0;
  pg_param_row(&params, session->number, kind, n);
  pg_param_int8(&params, (int64_t)(session->near[kind] ^ (uint64_t)1 << 63));
  int rc = pg_txn_fetch(txn, PG_FETCH_RANGE, &params, &result);
  for (int i = 0; !rc && i < PQntuples(result); i++) {
    uint64_t at = (uint64_t)pg_int8(result, i, 0) ^ (uint64_t)1 << 63;
    size_t len = (size_t)PQgetlength(result, i, 1);
    if (pg_map_get(&session->map, kind, at)) continue;
    struct pg_row *row = pg_map_put(&session->map, kind, at, len);
    if (row) memcpy(row->value, PQgetvalue(result, i, 1), len);
    else rc = ENOMEM;
  }
  PQclear(result);
  if (!rc) session->near[kind] = n;
  return rc;
}
