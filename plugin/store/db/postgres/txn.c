/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/txn.c: transactions. A read is one round trip, and leaves nothing open. A write
 * is two: the first locks the session's row and reads what is live in it, the second writes and
 * commits. What was not declared costs one more each.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "store/db/postgres/engine.h"

int pg_fail_in(const struct db *db, int rc, const char *what, struct tidings_error *error) {
  struct tidings_error inner = {.size = sizeof inner};
  int code = db_failed(&inner, rc, what);
  return fail(error, code, "store %s: %s", db->place.shown, inner.text);
}

/* -- sessions in a transaction ----------------------------------------------------------------- */

static int send_who(struct pg_conn *conn, enum pg_statement statement,
                    const struct pg_session *session) {
  struct pg_params params = {.count = 0};
  if (session->number) pg_param_int8(&params, session->number);
  else pg_param_null(&params);
  if (session->name) pg_param_bytes(&params, span_text(session->name));
  else pg_param_null(&params);
  return pg_send(conn, statement, &params);
}

int pg_txn_begin_on_server(struct pg_txn *engine, size_t *ret_count) {
  struct pg_params params = {.count = 0}, version = {.count = 0};
  char limit[16];
  int left = store_deadline_left_ms(engine->deadline);
  (void)snprintf(limit, sizeof limit, "%d", left > 0 ? left : 1);
  pg_param_bytes(&params, span_text(limit));
  int rc = pg_send(engine->conn, PG_BEGIN, NULL);
  engine->begun = true;
  if (!rc) rc = pg_send(engine->conn, PG_LIMITS, &params);
  *ret_count = 2;
  if (rc || !engine->unlocked) return rc;
  engine->unlocked = false;
  pg_param_int8(&version, engine->declared->number);
  pg_param_int8(&version, engine->declared->version);
  *ret_count = 3;
  return pg_send(engine->conn, PG_LOCK_VERSION, &version);
}

/* The last of `count` statements in the pipeline, the others are sent: what it has of the session,
 * or, of one that was loaded before, whether there is anything new. */
static int take_loaded(struct db_txn *txn, struct pg_session *session, size_t count) {
  struct pg_txn *engine = pg_engine(txn);
  PGresult *results[5];
  bool looks = !session->again && session->exists && session->version >= 0;
  int rc = pg_session_send_load(engine->conn, session, looks);
  if (rc) return rc;
  rc = pg_run(txn->db, engine->conn, engine->deadline, results, count);
  if (!rc && looks) rc = pg_session_looked(txn->db, session, results[count - 1]);
  else if (!rc) rc = pg_session_loaded(txn->db, session, results[count - 1]);
  for (size_t i = 0; i < count; i++) PQclear(results[i]);
  return rc;
}

/* Two writers may meet before there is a session: the second waits for the first, and looks again.
 * Without this each took what is in the inbox. */
static int load_new(struct db_txn *txn, struct pg_session *session) {
  struct pg_txn *engine = pg_engine(txn);
  struct pg_params params = {.count = 0};
  pg_param_bytes(&params, span_text(session->name));
  int rc = pg_send(engine->conn, PG_LOCK_NAME, &params);
  if (!rc) rc = send_who(engine->conn, PG_LOCK, session);
  return rc ? rc : take_loaded(txn, session, 3);
}

/* One round trip: locks it in a write, and loads it; one more if another process wrote to it. */
static int load(struct db_txn *txn, struct pg_session *session, bool locks) {
  struct pg_txn *engine = pg_engine(txn);
  size_t before = 0;
  int rc = locks && !engine->begun ? pg_txn_begin_on_server(engine, &before) : 0;
  if (!rc && locks) rc = send_who(engine->conn, PG_LOCK, session);
  if (rc) return rc;
  rc = take_loaded(txn, session, before + (locks ? 2u : 1u));
  while (!rc && session->again) rc = take_loaded(txn, session, 1);
  if (!rc && locks && !session->exists && session->name) rc = load_new(txn, session);
  if (rc) engine->failing = true;
  return rc;
}

static int add_session(struct db_txn *txn, struct pg_session *session) {
  struct pg_txn *engine = pg_engine(txn);
  if (engine->count == TOUCHED_SESSIONS) return PG_E_REFUSED;
  engine->sessions[engine->count++] = session;
  return 0;
}

/* As this process has read it, without a look: false if it has not. */
static bool take_as_read(struct db_txn *txn, struct pg_session *session) {
  if (!session->exists || session->version < 0) return false;
  pg_session_as_read(txn->db, session);
  pg_engine(txn)->unlocked = true;
  return true;
}

/* The store's own rows are not loaded: they are looked up one by one. */
static int open_session(struct db_txn *txn, uint32_t number, struct tidings_span name, bool as_read,
                        struct pg_session **ret_session) {
  struct pg_session *session = pg_session_take(txn->db, number, name);
  if (!session) return ENOMEM;
  if (!number && !name.len) memset(session->near, 0xff, sizeof session->near);
  bool loads = (number || name.len) && !(as_read && take_as_read(txn, session));
  int rc = loads ? load(txn, session, txn->access == DB_WRITES) : 0;
  if (!rc) rc = add_session(txn, session);
  if (rc) pg_session_free(session);
  else *ret_session = session;
  return rc;
}

/* A read may look at more sessions than a write: they go when there are too many. */
static void make_place(struct db_txn *txn) {
  struct pg_txn *engine = pg_engine(txn);
  if (txn->access != DB_READS || engine->count < TOUCHED_SESSIONS) return;
  size_t kept = 0;
  for (size_t i = 0; i < engine->count; i++) {
    struct pg_session *session = engine->sessions[i];
    if (session == engine->declared || !session->number) engine->sessions[kept++] = session;
    else pg_session_free(session);
  }
  engine->count = kept;
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
  make_place(txn);
  return open_session(txn, number, span_of(NULL, 0), false, ret_session);
}

int db_own(struct db_txn *txn, uint32_t number) {
  struct pg_txn *engine = pg_engine(txn);
  struct pg_session *session = NULL;
  struct pg_params params = {.count = 0};
  PGresult *results[4];
  size_t before = 0;
  int rc = pg_txn_session(txn, number, &session);
  if (rc || number || session->own) return rc; /* all others are locked when they are loaded */
  if (!engine->begun) rc = pg_txn_begin_on_server(engine, &before);
  pg_param_int8(&params, 0);
  pg_param_null(&params);
  if (!rc) rc = pg_send(engine->conn, PG_LOCK, &params);
  if (rc) return rc;
  rc = pg_run(txn->db, engine->conn, engine->deadline, results, before + 1);
  for (size_t i = 0; i <= before; i++) PQclear(results[i]);
  if (rc) engine->failing = true;
  session->own = !rc;
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
    int rc = open_session(txn, scope->session, scope->name,
                          scope->as_read && txn->access == DB_WRITES, &engine->declared);
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

/* The transaction itself is looked at: nobody reads what it writes before it ends. */
int db_look_on(const struct db_txn *writing, struct db_txn *ret_txn) {
  *ret_txn = *writing;
  ret_txn->access = DB_LOOKS_ON;
  return 0;
}

void pg_roll_back(struct db *db, struct pg_txn *engine) {
  PGresult *result;
  if (!engine->begun || !engine->conn) return;
  if (pg_send(engine->conn, PG_ROLLBACK, NULL) ||
      pg_run(db, engine->conn, engine->deadline, &result, 1))
    return; /* it is closed when it is given back: the server does it then */
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
  pg_param_int8(&params, session->number);
  pg_param_int2(&params, kind);
  pg_param_int8(&params, (int64_t)(n ^ (uint64_t)1 << 63));
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
  pg_param_int8(&params, session->number);
  pg_param_int2(&params, kind);
  pg_param_int8(&params, (int64_t)(n ^ (uint64_t)1 << 63));
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
