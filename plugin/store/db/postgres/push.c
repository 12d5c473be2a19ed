/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/push.c: a push is one statement, which inserts a row into the inbox and takes
 * no lock of the session: producers and hosts never wait for each other. The checks are in the
 * database, so that any client of it can push.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/fnv.h"
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
    return fail(push->error, TIDINGS_E_OUTCOME_UNKNOWN,
                "store %s: the database did not answer a push: outcome unknown; retry with the "
                "same id",
                db->place.shown);
  struct tidings_error inner = {.size = sizeof inner};
  int code = db_failed(&inner, rc, "push; nothing was stored");
  return fail(push->error, code, "store %s: %s", db->place.shown, inner.text);
}

/* Describes a push for a login that may only push: the database reads and checks the record itself.
 */
static void describe_checked(const struct db_inbox *row, struct pg_params *params) {
  pg_param_bytes(params, row->session);
  pg_param_bytes(params, row->source);
  pg_param_bytes(params, row->id);
  pg_param_bytes(params, row->body);
  pg_param_int8(params, row->per_minute);
  pg_param_bool(params, row->checks_kind);
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

/* -- how a push is made ------------------------------------------------------------------------ */

/* A plain push has no id, no limit of its source and no process to wake, and its session has no
 * declared kinds and is not nearly full. It is one INSERT, which reads the session and the newest
 * row of its inbox. A client that pushed a moment ago, and found the session far from full, does
 * not read them again, which saves a tenth of a push with many clients. All sessions share one
 * sequence of numbers: if the numbers grew much since the newest row, the waiting pushes are
 * counted. All other pushes call push_record. */
enum { MOST_ASKED = 64, FAR_FROM_FULL = 4096, KNOWN_FOR_MS = 250 };

static bool is_plain(const struct db_inbox *row) {
  return !row->id.len && !row->per_minute && !row->rings && !row->critical &&
         row->session.len < PG_PUSHED_NAME_BYTES;
}

static int64_t limit_of(const struct db *db, const struct db_inbox *row) {
  int64_t most = atomic_load(&db->pending_most), limit = row->pending_limit;
  if (limit > most) limit = most;
  return limit - limit / 20;
}

/* Returns the session's place. Call it with the lock. */
static struct pg_pushed *pushed_place(struct db *db, struct tidings_span name) {
  return &db->pushes.sessions[fnv_span(FNV_START, name) % PG_PUSHED_SESSIONS];
}

static bool is_pushed_to(const struct pg_pushed *pushed, struct tidings_span name) {
  return pushed->len && span_equal(span_of(pushed->name, pushed->len), name);
}

/* Is the estimate too uncertain, because most of the numbers since the counted row may belong to
 * other sessions? Counting takes time, so it is repeated only after about as many new numbers as
 * pushes wait. */
static bool says_little(const struct pg_pushed *pushed, int64_t limit) {
  int64_t numbers = pushed->waited - pushed->base;
  return numbers > pushed->base && numbers > (limit - pushed->base) / 2;
}

/* Chooses the statement. For PG_PUSH_NEXT, *ret_known is the estimate, which this push has raised
 * by one. */
static enum pg_statement choose(struct db *db, const struct db_inbox *row,
                                struct pg_pushed *ret_known) {
  enum pg_statement statement = PG_PUSH;
  if (!is_plain(row) || db->only_pushes || atomic_load(&db->is_full)) return statement;
  pthread_mutex_lock(&db->lock);
  struct pg_pushed *pushed = pushed_place(db, row->session);
  if (db->pushes.skips > 0) {
    db->pushes.skips--;
  } else if (is_pushed_to(pushed, row->session) &&
             store_uptime_ms() - pushed->at_ms < KNOWN_FOR_MS &&
             pushed->waited + pushed->waiting + FAR_FROM_FULL < limit_of(db, row)) {
    pushed->waited++;
    *ret_known = *pushed;
    statement = PG_PUSH_NEXT;
  } else {
    bool counts = is_pushed_to(pushed, row->session) && says_little(pushed, limit_of(db, row));
    statement = counts ? PG_PUSH_COUNT : PG_PUSH_PLAIN;
  }
  pthread_mutex_unlock(&db->lock);
  return statement;
}

static void describe_plain(const struct db *db, const struct db_inbox *row,
                           enum pg_statement statement, const struct pg_pushed *known,
                           struct pg_params *params) {
  pg_param_bytes(params, row->session);
  pg_param_bytes(params, row->body);
  if (statement != PG_PUSH_NEXT) {
    pg_param_int8(params, limit_of(db, row));
    return;
  }
  pg_param_int8(params, known->base);
  pg_param_int8(params, known->base_n);
}

/* Notes the estimate from the row of a push that was stored. */
static void note_pushed(struct db *db, struct tidings_span name, const PGresult *result) {
  enum { N, COUNTED, COUNTED_AT, WAITING };
  int64_t n = pg_int8(result, 0, N), at_n = pg_int8(result, 0, COUNTED_AT);
  int64_t base = at_n ? pg_int8(result, 0, COUNTED) : 1, base_n = at_n ? at_n : n;
  pthread_mutex_lock(&db->lock);
  struct pg_pushed *pushed = pushed_place(db, name);
  pushed->len = n >= base_n ? name.len : 0;
  memcpy(pushed->name, name.ptr, name.len);
  pushed->base = base;
  pushed->base_n = base_n;
  pushed->waited = base + n - base_n;
  pushed->waiting = pg_int8(result, 0, WAITING); /* 0 if the session does not exist yet */
  pushed->at_ms = store_uptime_ms();
  db->pushes.missed = 0;
  pthread_mutex_unlock(&db->lock);
}

void pg_pushes_forget(struct db *db, struct tidings_span name) {
  pthread_mutex_lock(&db->lock);
  struct pg_pushed *pushed = pushed_place(db, name);
  if (is_pushed_to(pushed, name)) pushed->len = 0;
  pthread_mutex_unlock(&db->lock);
}

/* A plain push was not stored, because the session has declared kinds or is nearly full. The more
 * such pushes in a row, the more of the next pushes call push_record at once. */
static void note_missed(struct db *db, struct tidings_span name) {
  struct pg_pushes *pushes = &db->pushes;
  pg_pushes_forget(db, name);
  pthread_mutex_lock(&db->lock);
  pushes->skips = (1 << pushes->missed) - 1;
  if (pushes->skips < MOST_ASKED) pushes->missed++;
  pthread_mutex_unlock(&db->lock);
}

/* Executes a push in one round trip; *ret_result is its result. */
static int run_push(struct db *db, struct pg_conn *conn, enum pg_statement statement,
                    const struct pg_params *params, store_deadline deadline,
                    PGresult **ret_result) {
  PGresult *results[2] = {NULL, NULL};
  size_t before = pg_clock_is_old(db) ? 1 : 0;
  int rc = before ? pg_send(conn, PG_CLOCK, NULL) : 0;
  if (!rc) rc = pg_send(conn, statement, params);
  if (!rc) rc = pg_run(db, conn, deadline, results, before + 1);
  if (!rc && before) pg_clock_take(db, results[0]);
  if (before) PQclear(results[0]);
  *ret_result = results[before];
  return rc;
}

/* Tries the push without push_record. *ret_stored: it was stored. */
static int run_plain(struct db *db, struct pg_conn *conn, const struct db_inbox *row,
                     store_deadline deadline, PGresult **ret_result, bool *ret_stored) {
  struct pg_pushed known = {.len = 0};
  struct pg_params params = {.count = 0};
  enum pg_statement statement = choose(db, row, &known);
  *ret_stored = false;
  if (statement == PG_PUSH) return 0;
  describe_plain(db, row, statement, &known, &params);
  int rc = run_push(db, conn, statement, &params, deadline, ret_result);
  if (rc) return rc;
  *ret_stored = strcmp(PQcmdTuples(*ret_result), "1") == 0;
  if (!*ret_stored) note_missed(db, row->session);
  else if (statement != PG_PUSH_NEXT) note_pushed(db, row->session, *ret_result);
  return 0;
}

int db_push(struct db *db, struct db_push *push, store_deadline deadline) {
  struct pg_conn *conn = NULL;
  PGresult *result = NULL;
  bool stored = false;
  push->duplicate = false;
  push->code = pg_conn_take(db, deadline, &conn, push->error);
  if (push->code) return push->code;
  int rc = run_plain(db, conn, &push->row, deadline, &result, &stored);
  if (!rc && !stored) {
    struct pg_params params = {.count = 0};
    if (db->only_pushes) describe_checked(&push->row, &params);
    else describe(push, &params);
    PQclear(result);
    rc =
        run_push(db, conn, db->only_pushes ? PG_PUSH_CHECKED : PG_PUSH, &params, deadline, &result);
  }
  push->code = stored ? 0 : judge(db, push, result, rc);
  PQclear(result);
  pg_conn_give(db, conn);
  return push->code;
}
