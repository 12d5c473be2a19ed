/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/tables.c: making, upgrading and dropping the tables of a store. sql.c writes
 * the SQL, and upgrade.c runs the steps of an upgrade.
 */
#include "store/db/postgres/tables.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "store/db/postgres/admin.h"
#include "store/db/postgres/engine.h"

enum { CONNECT_BUDGET_MS = 5000 };

/* Quotes the server's message on one line. */
int pg_admin_refuse(const struct pg_place *place, PGconn *pg, const PGresult *result,
                    struct tidings_error *error) {
  const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
  const char *words = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
  if (state && strcmp(state, "42P06") == 0)
    return fail(error, TIDINGS_E_STATE,
                "store %s: the schema is there already; name another with ?schema=NAME, or drop it",
                place->shown);
  if (state && strcmp(state, "42710") == 0)
    return fail(error, TIDINGS_E_STATE,
                "store %s: the server has the role %s_producer or %s_host already: of a store in "
                "another of its databases? Name another schema with ?schema=NAME; if no database "
                "needs the two, drop them",
                place->shown, place->schema, place->schema);
  if (state &&
      (strcmp(state, "42P01") == 0 || strcmp(state, "3F000") == 0 || strcmp(state, "42703") == 0))
    return fail(error, TIDINGS_E_NOT_FOUND, "store %s: the schema is not there, or is no store's",
                place->shown);
  if (state && strcmp(state, "55P03") == 0)
    return fail(error, TIDINGS_E_STATE,
                "store %s is in use: another client has its tables locked; end that first",
                place->shown);
  if (!words)
    words = PQconnectionNeedsPassword(pg)
                ? "the password is wrong or missing; put it into ~/.pgpass or PGPASSWORD"
                : PQerrorMessage(pg);
  return fail(error, TIDINGS_E_STORE, "store %s: %.*s", place->shown, (int)strcspn(words, "\n"),
              words);
}

int pg_admin_run(const struct pg_place *place, PGconn *pg, const char *sql, PGresult **ret_result,
                 struct tidings_error *error) {
  PGresult *result = PQexec(pg, sql);
  ExecStatusType status = PQresultStatus(result);
  int code = 0;
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    code = pg_admin_refuse(place, pg, result, error);
  if (!code && ret_result) *ret_result = result;
  else PQclear(result);
  return code;
}

int pg_admin_connect(const struct pg_place *place, PGconn **ret_pg, struct tidings_error *error) {
  /* These are not connection parameters, because poolers refuse unknown ones. */
  static const char settings[] = "SET client_min_messages = error; SET synchronous_commit = on; "
                                 "SET statement_timeout = 30000; SET lock_timeout = 30000";
  struct pg_addresses found = {.count = 0};
  int code = pg_addresses_find(place, store_deadline_in(CONNECT_BUDGET_MS), &found, error);
  const char *keys[] = {"dbname",
                        "connect_timeout",
                        "application_name",
                        found.count ? "host" : NULL,
                        "hostaddr",
                        "port",
                        NULL};
  const char *values[] = {
      place->conninfo,   "10", "tidings store", found.hosts.bytes, found.addresses.bytes,
      found.ports.bytes, NULL};
  PGconn *pg = code ? NULL : PQconnectdbParams(keys, values, 1);
  pg_addresses_free(&found);
  if (pg) pg_conn_silence(pg);
  if (!code && !pg) code = fail(error, TIDINGS_E_NOMEM, "no memory for a connection");
  if (!code && PQstatus(pg) != CONNECTION_OK) code = pg_admin_refuse(place, pg, NULL, error);
  if (code) {
    if (pg) PQfinish(pg);
    return code;
  }
  code = pg_admin_run(place, pg, settings, NULL, error);
  if (code) PQfinish(pg);
  else *ret_pg = pg;
  return code;
}

/* A schema without tidings's table `store` belongs to another application and stays untouched. */
int pg_admin_check(const struct pg_place *place, PGconn *pg, bool also_older, int *ret_number,
                   struct tidings_error *error) {
  char sql[160];
  PGresult *result = NULL;
  (void)snprintf(sql, sizeof sql, "SELECT " PG_NUMBERS " FROM \"%s\".store", place->schema);
  int code = pg_admin_run(place, pg, sql, &result, error);
  int number = INT_MAX;
  if (!code && PQntuples(result) == 1) code = pg_schema_check(place, result, &number, error);
  else if (!code)
    code = fail(error, TIDINGS_E_NOT_FOUND, "store %s: the schema is no store's", place->shown);
  if (!code && number < PG_SCHEMA && !also_older)
    code = fail(error, TIDINGS_E_STATE,
                "store %s has schema number %d, this build needs %d; run 'tidings store upgrade "
                "URL'",
                place->shown, number, (int)PG_SCHEMA);
  PQclear(result);
  if (!code && ret_number) *ret_number = number;
  return code;
}

static int check_database(const struct pg_place *place, PGconn *pg, struct tidings_error *error) {
  const char *encoding = PQparameterStatus(pg, "server_encoding");
  if (PQserverVersion(pg) < 150000)
    return fail(error, TIDINGS_E_STORE,
                "store %s: the server is PostgreSQL %d; expected 15 or newer: upgrade it",
                place->shown, PQserverVersion(pg) / 10000);
  if (encoding && strcmp(encoding, "UTF8") != 0)
    return fail(error, TIDINGS_E_STORE,
                "store %s: the database's encoding is %s; expected UTF8: CREATE DATABASE with "
                "ENCODING 'UTF8' and TEMPLATE template0",
                place->shown, encoding);
  return 0;
}

static int do_it(enum tables_task task, const struct pg_place *place, const char *sql,
                 struct tidings_error *error) {
  PGconn *pg = NULL;
  int number = 0, code = pg_admin_connect(place, &pg, error);
  if (code) return code;
  if (task == TABLES_INIT) code = check_database(place, pg, error);
  if (!code && task != TABLES_INIT) code = pg_admin_check(place, pg, true, &number, error);
  if (!code && task == TABLES_UPGRADE) code = number < PG_SCHEMA ? pg_upgrade(place, pg, error) : 0;
  else if (!code) code = pg_admin_run(place, pg, sql, NULL, error);
  PQfinish(pg);
  return code;
}

int tables_do(enum tables_task task, const char *url, char **ret_sql, struct tidings_error *error) {
  struct buffer sql = BUFFER_EMPTY;
  struct pg_place place;
  int code = pg_place_parse(url, &place, error);
  if (code) return code;
  pg_admin_sql(task, place.schema, &sql);
  buffer_byte(&sql, '\0');
  if (sql.failed) code = fail(error, TIDINGS_E_NOMEM, "no memory for SQL");
  else if (!ret_sql) code = do_it(task, &place, sql.bytes, error);
  if (!code && ret_sql) {
    *ret_sql = strdup(sql.bytes);
    if (!*ret_sql) code = fail(error, TIDINGS_E_NOMEM, "no memory for SQL");
  }
  buffer_free(&sql);
  pg_place_free(&place);
  return code;
}

int tables_count(const char *url, struct tables_counts *ret_counts, struct tidings_error *error) {
  struct pg_place place;
  PGconn *pg = NULL;
  PGresult *result = NULL;
  char sql[640];
  int code = pg_place_parse(url, &place, error);
  if (code) return code;
  const char *s = place.schema;
  (void)snprintf(
      sql, sizeof sql,
      "SELECT (SELECT count(*) FROM \"%s\".session WHERE session <> 0), "
      "(SELECT count(*) FROM \"%s\".inbox), count(*), count(*) FILTER (WHERE kind = 4), "
      "count(*) FILTER (WHERE kind = 8) FROM (SELECT kind FROM \"%s\".live UNION ALL SELECT "
      "kind FROM \"%s\".history) AS rows",
      s, s, s, s);
  code = pg_admin_connect(&place, &pg, error);
  if (!code) code = pg_admin_check(&place, pg, true, NULL, error);
  if (!code) code = pg_admin_run(&place, pg, sql, &result, error);
  if (!code) {
    uint64_t inbox = strtoull(PQgetvalue(result, 0, 1), NULL, 10);
    ret_counts->sessions = strtoull(PQgetvalue(result, 0, 0), NULL, 10);
    ret_counts->rows = inbox + strtoull(PQgetvalue(result, 0, 2), NULL, 10);
    ret_counts->notifications = inbox + strtoull(PQgetvalue(result, 0, 3), NULL, 10);
    ret_counts->messages = strtoull(PQgetvalue(result, 0, 4), NULL, 10);
  }
  PQclear(result);
  if (pg) PQfinish(pg);
  pg_place_free(&place);
  return code;
}

int tables_why(const char *url, int code, struct tidings_error *error) {
  struct tables_counts counts;
  struct tidings_error missing = {.size = sizeof missing};
  if (code != TIDINGS_E_STORE || tables_count(url, &counts, &missing) != TIDINGS_E_NOT_FOUND)
    return code;
  return fail(error, TIDINGS_E_NOT_FOUND, "%s", missing.text);
}
