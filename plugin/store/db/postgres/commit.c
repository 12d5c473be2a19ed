/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/commit.c: the second round trip of a write: all changes and the commit, in one
 * pipeline. If the answer does not arrive, the session's row shows whether the commit succeeded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "store/db/postgres/engine.h"

enum { BYTEA = 17, INT8 = 20 };

static int send_rows(struct pg_conn *conn, const struct pg_session *session) {
  struct buffer values = BUFFER_EMPTY;
  struct pg_keys keys;
  struct pg_params params = {.count = 0};
  size_t count = 0;
  int rc = 0;
  for (size_t i = 0; i < session->map.count; i++) count += session->map.rows[i].dirty;
  if (!count) return 0;
  pg_keys_begin(&keys, count);
  pg_array_begin(&values, BYTEA, count);
  for (size_t i = 0; i < session->map.count; i++) {
    const struct pg_row *row = &session->map.rows[i];
    if (!row->dirty) continue;
    pg_keys_add(&keys, row->kind, row->n);
    pg_array_add(&values, row->value, row->len);
  }
  pg_param_int8(&params, session->number);
  rc = pg_keys_param(&keys, &params);
  pg_param_bytes(&params, buffer_view(&values));
  if (values.failed) rc = ENOMEM;
  if (!rc) rc = pg_send(conn, PG_PUT, &params);
  pg_keys_free(&keys);
  buffer_free(&values);
  return rc;
}

static int send_gone(const struct db *db, struct pg_conn *conn, const struct pg_session *session) {
  struct pg_keys keys;
  struct pg_params params = {.count = 0};
  bool old = false;
  if (!session->gone_count) return 0;
  pg_keys_begin(&keys, session->gone_count);
  for (size_t i = 0; i < session->gone_count; i++) {
    const struct pg_gone *gone = &session->gone[i];
    pg_keys_add(&keys, gone->kind, gone->n);
    old = old || (db->kinds[gone->kind] == DB_KIND_ENDS && gone->n < session->floors[gone->kind]);
  }
  pg_param_int8(&params, session->number);
  int rc = pg_keys_param(&keys, &params);
  if (!rc) rc = pg_send(conn, PG_DELETE, &params);
  if (!rc && old) rc = pg_send(conn, PG_DROP_HISTORY, &params);
  pg_keys_free(&keys);
  return rc;
}

/* From which row on the kind is not history yet: *ret_moves if there are rows before it. The newest
 * row of a kind stays: it says which number is the next. */
static uint64_t floor_of(const struct pg_session *session, uint8_t kind, bool *ret_moves) {
  const struct pg_map *map = &session->map;
  size_t first = pg_map_find(map, kind, 0), after = pg_map_find(map, kind + 1, 0);
  uint64_t floor = session->floors[kind];
  *ret_moves = false;
  if (first == after) return floor;
  uint64_t newest = map->rows[after - 1].n;
  uint64_t ended = session->ended[kind] < newest ? session->ended[kind] : newest;
  if (ended <= floor) return floor;
  *ret_moves = map->rows[first].n < ended;
  return ended;
}

/* All kinds with one statement: its start on a table of many days costs more than its rows. */
static int send_archive(const struct db *db, struct pg_conn *conn, struct pg_session *session) {
  struct pg_keys keys;
  struct pg_params params = {.count = 0};
  uint8_t moved[KINDS];
  size_t count = 0;
  for (int i = 0; i < KINDS; i++) {
    uint8_t kind = (uint8_t)i;
    bool moves = false;
    if (db->kinds[kind] == DB_KIND_ENDS) session->floors[kind] = floor_of(session, kind, &moves);
    if (moves) moved[count++] = kind;
  }
  if (!count) return 0;
  pg_keys_begin(&keys, count);
  for (size_t i = 0; i < count; i++) pg_keys_add(&keys, moved[i], session->floors[moved[i]]);
  pg_param_int8(&params, session->number);
  int rc = pg_keys_param(&keys, &params);
  if (!rc) rc = pg_send(conn, PG_ARCHIVE, &params);
  pg_keys_free(&keys);
  return rc;
}

static int send_session(struct pg_conn *conn, const struct pg_session *session, int64_t token,
                        bool rings) {
  struct pg_params params = {.count = 0};
  uint64_t floors[KINDS];
  uint8_t owner[PG_OWNER_BYTES];
  for (int i = 0; i < KINDS; i++) floors[i] = htobe64(session->floors[i]);
  pg_param_int8(&params, session->number);
  if (session->name) pg_param_bytes(&params, span_text(session->name));
  else pg_param_null(&params);
  pg_param_int8(&params, token);
  if (session->is_noted) pg_param_int8(&params, (int64_t)session->noted.waiting);
  else pg_param_null(&params);
  pg_owner_bytes(&session->noted.owner, owner);
  if (session->is_noted && session->noted.owner.pid)
    pg_param_bytes(&params, span_of((const char *)owner, sizeof owner));
  else pg_param_null(&params);
  if (session->tools) pg_param_bytes(&params, span_text(session->tools));
  else pg_param_null(&params);
  pg_param_bytes(&params, span_of((const char *)floors, sizeof floors));
  pg_param_bool(&params, session->tools_noted);
  pg_param_int8(&params, session->folded_rings + rings);
  pg_param_int8(&params, session->noted.closed_ms);
  return pg_send(conn, PG_SESSION, &params);
}

static int send_folded(struct pg_conn *conn, const struct pg_session *session) {
  struct buffer ns = BUFFER_EMPTY;
  struct pg_params params = {.count = 0};
  if (!session->folded_count) return 0;
  pg_array_begin(&ns, INT8, session->folded_count);
  for (size_t i = 0; i < session->folded_count; i++) {
    uint64_t n = htobe64((uint64_t)session->folded[i]);
    pg_array_add(&ns, &n, 8);
  }
  pg_param_bytes(&params, span_text(session->name));
  pg_param_bytes(&params, buffer_view(&ns));
  int rc = ns.failed ? ENOMEM : pg_send(conn, PG_CLEAR_INBOX, &params);
  buffer_free(&ns);
  return rc;
}

static bool rings_in(const struct db_txn *txn, uint32_t session) {
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (txn->touched[i] == session && txn->ringing >> i & 1) return true;
  }
  return false;
}

static int send_changes(struct db_txn *txn, struct pg_session *session, int64_t token) {
  struct pg_conn *conn = pg_engine(txn)->conn;
  int rc = send_rows(conn, session);
  if (!rc) rc = send_gone(txn->db, conn, session);
  if (!rc) rc = send_archive(txn->db, conn, session);
  if (!rc) rc = send_folded(conn, session);
  return rc ? rc : send_session(conn, session, token, rings_in(txn, session->number));
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

/* After the commit all is on the server, under one version more. */
static void settle_session(struct pg_session *session) {
  for (size_t i = 0; i < session->map.count; i++) session->map.rows[i].dirty = false;
  session->folded_count = 0;
  session->folded_rings = 0;
  if (!session->exists) session->version = 0; /* as PG_SESSION has it */
  session->version++;
  session->exists = true;
  session->written = false;
}

/* The connection broke, or the answer is late: was it committed? The session's row says it, once
 * the old transaction is over. Returns 0 with the answer, or why it is not known. */
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
    rc = pg_send(engine.conn, PG_LOCK_NAME, &name);
    before++;
  }
  if (!rc) rc = pg_send(engine.conn, PG_LOOK_UP, &params);
  if (!rc) rc = pg_run(db, engine.conn, deadline, results, before + 1);
  if (!rc)
    *ret_stored = PQntuples(results[before]) && !PQgetisnull(results[before], 0, 0) &&
                  pg_int8(results[before], 0, 0) == token;
  for (size_t i = 0; i < MOST; i++) PQclear(results[i]);
  pg_roll_back(db, &engine);
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
  enum { MOST_RESULTS = 4096 };
  struct pg_txn *engine = pg_engine(txn);
  struct pg_session *first = NULL;
  PGresult *unused = NULL;
  int64_t token = 0;
  size_t before;
  int rc = engine->failing ? PG_E_LOST : 0;
  for (size_t i = 0; i < engine->count && !rc; i++) {
    struct pg_session *session = engine->sessions[i];
    if (!session->written) continue;
    if (!first) {
      first = session;
      token = make_token(txn->db, session);
      if (!engine->begun) rc = pg_txn_begin_on_server(engine, &before);
    }
    if (!rc) rc = send_changes(txn, session, token);
  }
  if (!first && !rc) return 0;
  if (!rc) rc = pg_inbox_send_noted(engine);
  if (!rc && txn->ringing) rc = send_calls(txn);
  if (!rc) rc = pg_send(engine->conn, PG_COMMIT, NULL);
  if (rc) return pg_fail_in(txn->db, rc, "commit; nothing was stored", error);
  rc = pg_run(txn->db, engine->conn, engine->deadline, &unused, 0);
  txn->outdated = rc == PG_E_OUTDATED;
  if (rc != PG_E_LOST && rc != PG_E_LATE)
    return rc ? pg_fail_in(txn->db, rc, "commit; nothing was stored", error) : 0;
  /* What is in its pipeline may be done to the end: nobody else is to use this connection. */
  bool stored = false;
  store_deadline patience = engine->deadline;
  int why = find_out(txn->db, first, token, patience, &stored);
  if (!why && stored) return 0;
  if (!why) return pg_fail_in(txn->db, rc, "commit; nothing was stored", error);
  return fail(error, TIDINGS_E_STORE,
              "store %s: the connection broke during the commit: outcome unknown; retry with the "
              "same id",
              txn->db->place.shown);
}

int db_commit(struct db_txn *txn, struct tidings_error *error) {
  struct pg_txn *engine = pg_engine(txn);
  int code = commit_rows(txn, error);
  if (!code) {
    for (size_t i = 0; i < engine->count; i++) {
      if (engine->sessions[i]->written) settle_session(engine->sessions[i]);
    }
  }
  if (txn->outdated) pg_roll_back(txn->db, engine);
  pg_txn_release(txn, !code);
  return code;
}
