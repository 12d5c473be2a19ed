/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/copy.c: reads a whole store, and begins and ends the making of one. A copy is
 * made in one transaction: even if a process is killed, the whole copy is there or nothing of it.
 */
#include "store/db/postgres/copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "store/db/postgres/admin.h"
#include "store/db/postgres/copying.h"

/* The setting `tidings.written` is needed because the statements of commits do nothing in a
 * transaction that has not written its session. */
static const char limits[] = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '5s'; "
                             "SET LOCAL tidings.written = 'yes'";

static int begin_copy(struct pg_copy *copy, const char *level, struct tidings_error *error) {
  char sql[240];
  (void)snprintf(sql, sizeof sql, "BEGIN ISOLATION LEVEL %s; %s", level, limits);
  return pg_admin_run(&copy->place, copy->pg, sql, NULL, error);
}

static int enter(struct pg_copy *copy, const char *lock, struct tidings_error *error) {
  char sql[320];
  (void)snprintf(
      sql, sizeof sql,
      "SET LOCAL search_path = \"%s\"; LOCK TABLE session, live, history, inbox, seen, rate "
      "IN %s MODE",
      copy->place.schema, lock);
  return pg_admin_run(&copy->place, copy->pg, sql, NULL, error);
}

static int connect_copy(const char *url, struct pg_copy **ret_copy, struct tidings_error *error) {
  struct pg_copy *copy = calloc(1, sizeof *copy);
  if (!copy) return fail(error, TIDINGS_E_NOMEM, "no memory for a copy");
  int code = pg_place_parse(url, &copy->place, error);
  if (!code) code = pg_admin_connect(&copy->place, &copy->pg, error);
  if (code) (void)pg_copy_end(copy, code, NULL);
  else *ret_copy = copy;
  return code;
}

int pg_copy_read(const char *url, struct pg_copy **ret_copy, struct tidings_error *error) {
  struct pg_copy *copy = NULL;
  int code = connect_copy(url, &copy, error);
  if (code) return code;
  code = pg_admin_check(&copy->place, copy->pg, false, NULL, error);
  if (!code) code = begin_copy(copy, "REPEATABLE READ", error);
  if (!code) code = enter(copy, "SHARE", error);
  if (code) (void)pg_copy_end(copy, code, NULL);
  else *ret_copy = copy;
  return code;
}

/* -- into an empty store ----------------------------------------------------------------------- */

static int is_there(struct pg_copy *copy, bool *ret_there, struct tidings_error *error) {
  char sql[160];
  PGresult *result = NULL;
  (void)snprintf(sql, sizeof sql, "SELECT to_regnamespace('\"%s\"') IS NOT NULL",
                 copy->place.schema);
  int code = pg_admin_run(&copy->place, copy->pg, sql, &result, error);
  if (!code) *ret_there = PQgetvalue(result, 0, 0)[0] == 't';
  PQclear(result);
  return code;
}

static int make_schema(struct pg_copy *copy, struct tidings_error *error) {
  struct buffer sql = BUFFER_EMPTY;
  if (PQserverVersion(copy->pg) < 150000)
    return fail(error, TIDINGS_E_STORE,
                "store %s: the server is PostgreSQL %d; expected 15 or newer: upgrade it",
                copy->place.shown, PQserverVersion(copy->pg) / 10000);
  pg_admin_sql(TABLES_INIT, copy->place.schema, &sql);
  buffer_byte(&sql, '\0');
  int code = sql.failed ? fail(error, TIDINGS_E_NOMEM, "no memory for SQL")
                        : begin_copy(copy, "READ COMMITTED", error);
  if (!code) code = pg_admin_run(&copy->place, copy->pg, sql.bytes, NULL, error);
  buffer_free(&sql);
  return code;
}

/* A store without a session has only its own rows, which the copy replaces. */
static int take_empty(struct pg_copy *copy, struct tidings_error *error) {
  PGresult *result = NULL;
  int code = pg_admin_check(&copy->place, copy->pg, false, NULL, error);
  if (!code) code = begin_copy(copy, "READ COMMITTED", error);
  if (!code) code = enter(copy, "ACCESS EXCLUSIVE", error);
  if (!code)
    code = pg_admin_run(&copy->place, copy->pg,
                        "SELECT (SELECT count(*) FROM session WHERE session <> 0) + (SELECT "
                        "count(*) FROM inbox)",
                        &result, error);
  if (!code && strcmp(PQgetvalue(result, 0, 0), "0") != 0)
    code = fail(error, TIDINGS_E_STATE,
                "store %s is not empty; name a schema that is not there yet with ?schema=NAME: "
                "nothing is overwritten",
                copy->place.shown);
  PQclear(result);
  if (code) return code;
  return pg_admin_run(&copy->place, copy->pg,
                      "DELETE FROM live; UPDATE session SET version = version + 1; SELECT "
                      "keep_days(30)",
                      NULL, error);
}

int pg_copy_write(const char *url, struct pg_copy **ret_copy, struct tidings_error *error) {
  struct pg_copy *copy = NULL;
  bool there = false;
  int code = connect_copy(url, &copy, error);
  if (code) return code;
  code = is_there(copy, &there, error);
  if (!code) code = there ? take_empty(copy, error) : make_schema(copy, error);
  if (!code) code = pg_copying_begin(copy, error);
  if (code) (void)pg_copy_end(copy, code, NULL);
  else *ret_copy = copy;
  return code;
}

/* Closing the connection rolls its transaction back. */
int pg_copy_end(struct pg_copy *copy, int code, struct tidings_error *error) {
  if (!copy) return code;
  if (!code) {
    PGresult *result = PQexec(copy->pg, "COMMIT");
    if (!result || PQstatus(copy->pg) != CONNECTION_OK)
      code = fail(error, TIDINGS_E_OUTCOME_UNKNOWN,
                  "store %s: the connection broke during the commit: outcome unknown; 'tidings "
                  "store check' says whether the store is there, and then it is whole",
                  copy->place.shown);
    else if (strcmp(PQcmdStatus(result), "COMMIT") != 0)
      code = pg_admin_refuse(&copy->place, copy->pg, result, error);
    PQclear(result);
  }
  if (copy->pg) PQfinish(copy->pg);
  buffer_free(&copy->rows);
  pg_place_free(&copy->place);
  free(copy);
  return code;
}

/* -- reading ----------------------------------------------------------------------------------- */

static int send_select(struct pg_copy *copy, const char *sql, struct tidings_error *error) {
  if (PQsendQueryParams(copy->pg, sql, 0, NULL, NULL, NULL, NULL, 1) &&
      PQsetSingleRowMode(copy->pg))
    return 0;
  return pg_admin_refuse(&copy->place, copy->pg, NULL, error);
}

/* Takes the results row by row. After an error it only reads the rest, which libpq requires. */
static int take_results(struct pg_copy *copy, int (*each)(void *taking, const PGresult *row),
                        void *taking, struct tidings_error *error) {
  int code = 0;
  for (PGresult *result; (result = PQgetResult(copy->pg));) {
    ExecStatusType status = PQresultStatus(result);
    if (!code && status == PGRES_SINGLE_TUPLE) code = each(taking, result);
    else if (!code && status != PGRES_TUPLES_OK)
      code = pg_admin_refuse(&copy->place, copy->pg, result, error);
    PQclear(result);
  }
  return code;
}

static struct tidings_span field_of(const PGresult *row, int column) {
  return span_of(PQgetvalue(row, 0, column), (size_t)PQgetlength(row, 0, column));
}

struct taking_rows {
  int (*each)(void *context, const struct db_key *key, struct tidings_span value);
  void *context;
};

static int take_one_row(void *context, const PGresult *row) {
  const struct taking_rows *taking = context;
  uint32_t session = htobe32((uint32_t)pg_int8(row, 0, 0));
  uint64_t n = htobe64((uint64_t)pg_int8(row, 0, 2) ^ (uint64_t)1 << 63);
  struct db_key key;
  memcpy(key.bytes, &session, 4);
  key.bytes[4] = (uint8_t)PQgetvalue(row, 0, 1)[1];
  memcpy(key.bytes + 5, &n, 8);
  return taking->each(taking->context, &key, field_of(row, 3));
}

/* A row that ended and was written again is in both tables; then the live row counts. If the
 * history has several rows, the one with the newest day counts. */
int pg_copy_rows(struct pg_copy *copy,
                 int (*each)(void *context, const struct db_key *key, struct tidings_span value),
                 void *context, struct tidings_error *error) {
  struct taking_rows taking = {each, context};
  int code = send_select(copy,
                         "SELECT DISTINCT ON (session, kind, n) session, kind, n, value FROM "
                         "(SELECT session, kind, n, value, 'infinity'::date AS day FROM live UNION "
                         "ALL SELECT session, kind, n, value, day FROM history) AS rows "
                         "ORDER BY session, kind, n, day DESC",
                         error);
  return code ? code : take_results(copy, take_one_row, &taking, error);
}

struct taking_events {
  int (*each)(void *context, const struct pg_copy_event *event);
  void *context;
};

static int take_one_event(void *context, const PGresult *row) {
  const struct taking_events *taking = context;
  const struct pg_copy_event event = {.session = (uint32_t)pg_int8(row, 0, 0),
                                      .time_ms = pg_int8(row, 0, 1),
                                      .keep_ms = pg_int8(row, 0, 2),
                                      .source = field_of(row, 3),
                                      .id = field_of(row, 4)};
  return taking->each(taking->context, &event);
}

int pg_copy_events(struct pg_copy *copy,
                   int (*each)(void *context, const struct pg_copy_event *event), void *context,
                   struct tidings_error *error) {
  struct taking_events taking = {each, context};
  int code = send_select(copy,
                         "SELECT session, at_ms, round(extract(epoch FROM until) * 1000)::bigint - "
                         "at_ms, source, id FROM seen JOIN session USING (name) WHERE until > "
                         "clock_timestamp() ORDER BY session, source, id",
                         error);
  return code ? code : take_results(copy, take_one_event, &taking, error);
}

int pg_copy_inbox(struct pg_copy *copy, uint64_t *ret_count, struct tidings_error *error) {
  PGresult *result = NULL;
  int code = pg_admin_run(&copy->place, copy->pg, "SELECT count(*) FROM inbox", &result, error);
  if (!code) *ret_count = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
  PQclear(result);
  return code;
}
