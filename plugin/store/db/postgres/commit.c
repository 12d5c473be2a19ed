/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/commit.c: the second round trip of a write: all changes and the commit, in one
 * pipeline. If the answer does not arrive, the session's row shows whether the commit succeeded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/postgres/engine.h"

static bool rings_in(const struct db_txn *txn, uint32_t session) {
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (txn->touched[i] == session && txn->ringing >> i & 1) return true;
  }
  return false;
}

static int send_calls(struct db_txn *txn) {
  int rc = 0;
  for (size_t i = 0; i < txn->touched_count && !rc; i++) {
    if (!(txn->ringing >> i & 1)) continue;
    for (size_t j = 0; j < txn->called_count && j < CALLED_OWNERS && !rc; j++) {
      struct pg_params params = {.count = 0};
      uint8_t owner[PG_OWNER_BYTES];
      char session[16];
      pg_owner_bytes(&txn->called[j], owner);
      (void)snprintf(session, sizeof session, "%u", txn->touched[i]);
      pg_param_bytes(&params, span_of((const char *)owner, sizeof owner));
      pg_param_bytes(&params, span_text(session));
      rc = pg_send(pg_engine(txn)->conn, PG_NOTIFY, &params);
    }
  }
  return rc;
}

/* After the commit the server has all rows, and the session's version is one higher. */
static void settle_session(struct pg_session *session) {
  for (size_t i = 0; i < session->map.count; i++)
    session->map.rows[i].dirty = session->map.rows[i].fresh = false;
  session->folded_count = 0;
  session->folded_rings = 0;
  if (!session->exists) session->version = 0; /* as PG_SESSION_NEW has it */
  session->version++;
  session->exists = true;
  session->written = false;
}

/* A commit that is reported as failed must not happen later, if the server has not begun the
 * transaction yet, so the session gets another version. */
static int fence_off(struct db *db, struct pg_txn *engine, struct pg_params *session) {
  int rc = pg_send(engine->conn, PG_FENCE_OFF, session);
  if (!rc) rc = pg_send(engine->conn, PG_COMMIT, NULL);
  return rc ? rc : pg_run(db, engine->conn, engine->deadline, NULL, 0);
}

/* The connection broke, or the answer is late: was the transaction committed? The session's row
 * shows it as soon as the old transaction has ended. Returns 0 with the answer, or the error for
 * which it is not known. */
static int find_out(struct db *db, const struct pg_session *session, int64_t token,
                    store_deadline deadline, bool *ret_stored) {
  enum { MOST = 4 };
  struct pg_txn engine = {.deadline = deadline};
  struct pg_params params = {.count = 0}, name = {.count = 0};
  PGresult *results[MOST] = {NULL};
  size_t before = 0;
  if (pg_conn_take(db, deadline, &engine.conn, NULL)) return PG_E_LOST;
  pg_param_int8(&params, session->number);
  int rc = pg_txn_begin_on_server(&engine, &before);
  if (!rc && !session->exists && session->name) { /* it has no row yet that could be waited for */
    pg_param_bytes(&name, span_text(session->name));
    rc = pg_send(engine.conn, pg_txn_name_lock(db), &name);
    before++;
  }
  if (!rc) rc = pg_send(engine.conn, PG_LOCK, &params);
  if (!rc) rc = pg_run(db, engine.conn, deadline, results, before + 1);
  if (!rc)
    *ret_stored = PQntuples(results[before]) && !PQgetisnull(results[before], 0, 0) &&
                  pg_int8(results[before], 0, 0) == token;
  for (size_t i = 0; i < MOST; i++) PQclear(results[i]);
  if (!rc && !*ret_stored) rc = fence_off(db, &engine, &params);
  else pg_roll_back(db, &engine);
  pg_conn_give(db, engine.conn);
  return rc;
}

static int64_t make_token(const struct db *db, const struct pg_session *session) {
  static _Atomic uint64_t count;
  uint64_t mix = (uint64_t)db->self.pid << 32 ^ db->self.start_time << 16 ^
                 (uint64_t)session->version << 40 ^ ++count;
  uint64_t boot;
  memcpy(&boot, db->self.boot_id, sizeof boot);
  mix = (mix ^ boot) * 0xff51afd7ed558ccdu;
  return (int64_t)(mix ^ mix >> 33);
}

static int commit_rows(struct db_txn *txn, struct tidings_error *error) {
  enum { MOST = 3 };
  struct pg_txn *engine = pg_engine(txn);
  struct pg_session *first = NULL;
  PGresult *results[MOST] = {NULL};
  struct pg_write write = {.token = 0};
  size_t before = 0;
  int rc = engine->failing ? PG_E_LOST : 0;
  for (size_t i = 0; i < engine->count && !rc; i++) {
    struct pg_session *session = engine->sessions[i];
    if (!session->written) continue;
    if (!first) {
      first = session;
      write.token = make_token(txn->db, session);
      /* PG_SESSION looks at its version itself. */
      if (session == engine->declared) engine->unlocked = false;
      if (!engine->begun) rc = pg_txn_begin_on_server(engine, &before);
      write.first = before < 2; /* else PG_LOCK_VERSION is */
    }
    write.rings = rings_in(txn, session->number);
    if (!rc) rc = pg_session_send_changes(txn->db, engine->conn, session, &write);
    write.first = false;
  }
  if (!first && !rc) { /* nothing was written; only the lock is released */
    pg_roll_back(txn->db, engine);
    return 0;
  }
  if (!rc) rc = pg_inbox_send_noted(engine);
  if (!rc && txn->ringing) rc = send_calls(txn);
  if (!rc) rc = pg_send(engine->conn, PG_COMMIT, NULL);
  if (rc) return pg_fail_in(txn->db, rc, "commit; nothing was stored", error);
  rc = pg_run(txn->db, engine->conn, engine->deadline, results, before + 1);
  if (!rc && !PQntuples(results[before])) rc = PG_E_OUTDATED; /* nothing was written */
  for (size_t i = 0; i < MOST; i++) PQclear(results[i]);
  txn->outdated = rc == PG_E_OUTDATED;
  if (rc != PG_E_LOST && rc != PG_E_LATE)
    return rc ? pg_fail_in(txn->db, rc, "commit; nothing was stored", error) : 0;
  /* The server may still execute the rest of the pipeline, so nobody else may use this connection.
   */
  bool stored = false;
  store_deadline patience = engine->deadline;
  int why = find_out(txn->db, first, write.token, patience, &stored);
  if (!why && stored) return 0;
  if (!why) return pg_fail_in(txn->db, rc, "commit; nothing was stored", error);
  return fail(error, TIDINGS_E_OUTCOME_UNKNOWN,
              "store %s: the connection broke during the commit: outcome unknown; retry with the "
              "same id",
              txn->db->place.shown);
}

int db_commit(struct db_txn *txn, struct tidings_error *error) {
  struct pg_txn *engine = pg_engine(txn);
  int code = commit_rows(txn, error);
  if (!code) {
    for (size_t i = 0; i < engine->count; i++) {
      struct pg_session *session = engine->sessions[i];
      if (session->tools_noted && session->name)
        pg_pushes_forget(txn->db, span_text(session->name));
      if (session->written) settle_session(session);
    }
  }
  pg_txn_release(txn, !code);
  return code;
}
