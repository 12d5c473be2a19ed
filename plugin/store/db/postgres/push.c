/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/push.c: a push is one statement, which inserts a row into the inbox and takes
 * no lock of the session: producers never wait for a host, nor a host for producers. The checks are
 * in the database, so that any client of it can push.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "store/db/postgres/engine.h"

static int judge(struct db *db, struct db_push *push, const PGresult *result, int rc) {
  const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
  if (!rc) {
    push->duplicate = PQgetlength(result, 0, 0) > 0;
    return 0;
  }
  if (state && strncmp(state, "TD", 2) == 0) {
    int code = strcmp(state, "TDSCH") == 0 ? TIDINGS_E_SCHEMA : TIDINGS_E_FULL;
    return fail(push->error, code, "%s", PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  }
  if (rc == PG_E_LOST || rc == PG_E_LATE)
    return fail(push->error, TIDINGS_E_STORE,
                "store %s: the database did not answer a push: outcome unknown; retry with the "
                "same id",
                db->place.shown);
  struct tidings_error inner = {.size = sizeof inner};
  int code = db_failed(&inner, rc, "push; nothing was stored");
  return fail(push->error, code, "store %s: %s", db->place.shown, inner.text);
}

static void describe(const struct db_push *push, struct pg_params *params) {
  const struct db_inbox *row = &push->row;
  pg_param_bytes(params, row->session);
  pg_param_bytes(params, row->source);
  pg_param_bytes(params, row->id);
  pg_param_bytes(params, row->body);
  pg_param_int8(params, row->now_ms);
  pg_param_int8(params, row->window_ms);
  pg_param_int8(params, row->pending_limit);
  pg_param_bool(params, row->critical);
  pg_param_bytes(params, row->kind_source);
  pg_param_int8(params, row->per_minute);
  pg_param_bool(params, row->rings);
  pg_param_bytes(params, row->tool);
  if (row->checks_kind) pg_param_bytes(params, row->kind_name);
  else pg_param_null(params);
}

/* One without an id, a limit of its source or anybody to wake, to a session whose tools have
 * declared nothing and which is not nearly full, is one statement of the server's. Where that was
 * not so, the next ones are not tried. */
enum { ASKED_AFTER_ONE = 64 };

static bool may_be_plain(struct db *db, const struct db_inbox *row) {
  if (row->id.len || row->per_minute || row->rings || row->critical) return false;
  return atomic_load(&db->pushes_asked) <= 0 || atomic_fetch_sub(&db->pushes_asked, 1) <= 0;
}

static void describe_plain(const struct db_inbox *row, struct pg_params *params) {
  pg_param_bytes(params, row->session);
  pg_param_bytes(params, row->body);
  pg_param_int8(params, row->pending_limit - row->pending_limit / 20);
}

/* One round trip. *ret_result is the push's. */
static int run_push(struct db *db, struct pg_conn *conn, enum pg_statement statement,
                    const struct db_push *push, store_deadline deadline, PGresult **ret_result) {
  struct pg_params params = {.count = 0};
  PGresult *results[2] = {NULL, NULL};
  size_t before = pg_clock_is_old(db) ? 1 : 0;
  if (statement == PG_PUSH) describe(push, &params);
  else describe_plain(&push->row, &params);
  int rc = before ? pg_send(conn, PG_CLOCK, NULL) : 0;
  if (!rc) rc = pg_send(conn, statement, &params);
  if (!rc) rc = pg_run(db, conn, deadline, results, before + 1);
  if (!rc && before) pg_clock_read(db, pg_int8(results[0], 0, 0));
  if (before) PQclear(results[0]);
  *ret_result = results[before];
  return rc;
}

int db_push(struct db *db, struct db_push *push, store_deadline deadline) {
  struct pg_conn *conn = NULL;
  PGresult *result = NULL;
  push->duplicate = false;
  push->code = pg_conn_take(db, deadline, &conn, push->error);
  if (push->code) return push->code;
  bool plain = may_be_plain(db, &push->row);
  int rc = run_push(db, conn, plain ? PG_PUSH_PLAIN : PG_PUSH, push, deadline, &result);
  if (!rc && plain && strcmp(PQcmdTuples(result), "1") != 0) {
    atomic_store(&db->pushes_asked, ASKED_AFTER_ONE);
    PQclear(result);
    plain = false;
    rc = run_push(db, conn, PG_PUSH, push, deadline, &result);
  }
  push->code = !rc && plain ? 0 : judge(db, push, result, rc);
  PQclear(result);
  pg_conn_give(db, conn);
  return push->code;
}
