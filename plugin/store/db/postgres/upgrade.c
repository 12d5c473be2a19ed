/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/upgrade.c: brings the tables up to date while they are in use. Each step is a
 * transaction of its own. It waits a tenth of a second for its locks, so that no client waits
 * longer for it, and is tried again if it does not get them.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store/db/postgres/admin.h"

enum { UPGRADE_BUDGET_MS = 20000, FIRST_PAUSE_MS = 50, LONGEST_PAUSE_MS = 2000 };

/* Should the step be tried again? Another client had a lock that it needs, or ran the same upgrade.
 */
static bool is_worth_another(const PGresult *result) {
  static const char *const states[] = {"55P03", "40P01", "57014", "XX000"};
  const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  for (size_t i = 0; state && i < sizeof states / sizeof *states; i++) {
    if (strcmp(state, states[i]) == 0) return true;
  }
  return false;
}

/* The error names the client that has had a lock on one of the tables for the longest time. */
static int refuse_busy(const struct pg_place *place, PGconn *pg, struct tidings_error *error) {
  static const char who_reads[] =
      "SELECT format('process %%s of %%s, since %%s', pid, coalesce(nullif(application_name, ''), "
      "usename), xact_start) FROM pg_locks JOIN pg_stat_activity USING (pid) JOIN pg_class ON "
      "relation = pg_class.oid WHERE relnamespace = to_regnamespace('\"%s\"') AND pid <> "
      "pg_backend_pid() ORDER BY xact_start LIMIT 1";
  char sql[400];
  (void)snprintf(sql, sizeof sql, who_reads, place->schema);
  PGresult *result = PQexec(pg, sql);
  bool known = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;
  int code = fail(error, TIDINGS_E_BUSY,
                  "store %s: another client has a table in use (%s); nobody waits for the upgrade: "
                  "end that client's transaction, and run this again to go on",
                  place->shown, known ? PQgetvalue(result, 0, 0) : "not known which");
  PQclear(result);
  return code;
}

static void pause_ms(int ms) {
  const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
  (void)nanosleep(&pause, NULL);
}

static int run_step(const struct pg_place *place, PGconn *pg, const char *sql,
                    store_deadline deadline, struct tidings_error *error) {
  for (int pause = FIRST_PAUSE_MS;; pause = pause < LONGEST_PAUSE_MS ? pause * 2 : pause) {
    PGresult *result = PQexec(pg, sql);
    ExecStatusType status = PQresultStatus(result);
    bool done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    bool again = !done && is_worth_another(result), late = store_deadline_left_ms(deadline) <= 1;
    int code = done || again ? 0 : pg_admin_refuse(place, pg, result, error);
    PQclear(result);
    if (again && late) return refuse_busy(place, pg, error);
    if (!again) return code;
    pause_ms(pause);
  }
}

int pg_upgrade(const struct pg_place *place, PGconn *pg, struct tidings_error *error) {
  static const char limits[] = "SET lock_timeout = '100ms'; SET statement_timeout = 0";
  store_deadline deadline = store_deadline_in(UPGRADE_BUDGET_MS);
  struct buffer sql = BUFFER_EMPTY;
  int code = pg_admin_run(place, pg, limits, NULL, error);
  for (size_t step = 0; !code && pg_admin_step(step, place->schema, &sql); step++) {
    buffer_byte(&sql, '\0');
    code = sql.failed ? fail(error, TIDINGS_E_NOMEM, "no memory for SQL")
                      : run_step(place, pg, sql.bytes, deadline, error);
    buffer_free(&sql);
    sql = (struct buffer)BUFFER_EMPTY;
  }
  buffer_free(&sql);
  return code;
}
