/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/days.c: the daily work on the tables: it makes the partitions of history, one
 * for each day, and removes old rows. No call waits for it. An idle connection sends it, and
 * returns to the pool when the server has answered; a process that closes the store sends it and
 * waits only a moment. Rows are archived only into a day that has a partition; otherwise they stay
 * live.
 */
#include <poll.h>

#include "store/db/postgres/engine.h"

enum { EACH_MS = 3600000, AGAIN_MS = 60000, A_DAY_MS = 86400000, MARGIN_MS = 60000, LEAVE_MS = 20 };
enum { DAYS_COLUMNS = 3 };

/* How many days from today on have partitions, when did today begin, and is there work to do? */
#define UTC_DAY "(now() AT TIME ZONE 'UTC')::date"
const char pg_days_query[] =
    "SELECT days, extract(epoch FROM " UTC_DAY ")::bigint * 1000, days < 8 OR EXISTS (SELECT FROM "
    "session WHERE closed_ms > 0 AND closed_ms < floor(extract(epoch FROM now()) * 1000)::bigint - "
    "86400000) OR EXISTS (SELECT FROM seen WHERE until < now() - interval '1 day') FROM (SELECT "
    "coalesce(min(n), 8) AS days FROM generate_series(0, 7) AS n WHERE to_regclass('history_' || "
    "to_char(" UTC_DAY " + n, 'YYYYMMDD')) IS NULL) AS there";
static const char keep_query[] = "SELECT keep_days(30)";
/* An earlier call may have left a limit that is too short for the daily work. */
static const char limit_query[] = "SELECT set_config('statement_timeout', '10000', false)";

int pg_schema_check(const struct pg_place *place, const PGresult *result, int *ret_number,
                    struct tidings_error *error) {
  int oldest = (int)pg_int_text(result, 0, 0);
  int number = PQgetisnull(result, 0, 1) ? oldest : (int)pg_int_text(result, 0, 1);
  if (oldest > PG_SCHEMA)
    return fail(error, TIDINGS_E_SCHEMA_NEWER,
                "store %s has schema number %d, this build knows %d; use a newer tidings. The "
                "store was left as it is",
                place->shown, oldest, (int)PG_SCHEMA);
  if (number < PG_SCHEMA_OLDEST)
    return fail(error, TIDINGS_E_STORE,
                "store %s has schema number %d, this build needs %d; run 'tidings store upgrade "
                "URL' of an older tidings, one that knows number %d, and then of this one",
                place->shown, number, (int)PG_SCHEMA, (int)PG_SCHEMA_OLDEST);
  *ret_number = number;
  return 0;
}

/* Tables of schema 2 also have a default partition for all other days. */
void pg_days_read(struct db *db, const PGresult *result) {
  if (PQntuples(result) != 1) return;
  int64_t days = pg_int_text(result, 0, 0), today_ms = pg_int_text(result, 0, 1);
  bool older = db->revision < PG_SCHEMA_OF_DAYS;
  atomic_store(&db->days_end_ms, older ? INT64_MAX : today_ms + days * A_DAY_MS);
  atomic_store(&db->days_due, !older && PQgetvalue(result, 0, 2)[0] == 't');
}

bool pg_days_reach(const struct db *db) {
  int64_t server_ms = store_uptime_ms() + atomic_load(&db->clock_ahead_ms);
  return server_ms + MARGIN_MS < atomic_load(&db->days_end_ms);
}

static bool send_text(struct pg_conn *conn, const char *sql) {
  return PQsendQueryParams(conn->pg, sql, 0, NULL, NULL, NULL, NULL, 0);
}

/* Sends the work and the question in two transactions, so that the work is committed before the
 * question is asked. */
static bool send_keeping(struct pg_conn *conn) {
  bool sent = send_text(conn, limit_query) && send_text(conn, keep_query) &&
              PQpipelineSync(conn->pg) && send_text(conn, pg_days_query) &&
              PQpipelineSync(conn->pg) && PQflush(conn->pg) >= 0;
  conn->limit_ms = 0;
  return sent;
}

bool pg_days_take(struct db *db, struct pg_conn *conn) {
  int64_t here_ms = store_uptime_ms();
  pthread_mutex_lock(&db->lock);
  int64_t each_ms = atomic_load(&db->days_due) ? AGAIN_MS : EACH_MS;
  bool takes =
      !db->keeper && db->revision >= PG_SCHEMA_OF_DAYS && here_ms - db->days_tried_ms > each_ms;
  if (takes) {
    db->days_tried_ms = here_ms;
    db->keeper_answers = 0;
    takes = send_keeping(conn);
  }
  if (takes) db->keeper = conn;
  pthread_mutex_unlock(&db->lock);
  return takes;
}

/* Reads the answers that have arrived. True: these were the last, or the connection is gone. */
static bool read_answers(struct db *db, struct pg_conn *conn) {
  bool between =
      false; /* one NULL separates two results; a second one means that nothing more comes */
  if (!PQconsumeInput(conn->pg)) return true;
  while (db->keeper_answers < 2 && !PQisBusy(conn->pg)) {
    PGresult *result = PQgetResult(conn->pg);
    if (!result && between) return true;
    between = !result;
    db->keeper_answers += PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQnfields(result) == DAYS_COLUMNS)
      pg_days_read(db, result);
    PQclear(result);
  }
  return db->keeper_answers == 2;
}

struct pg_conn *pg_days_give(struct db *db) {
  struct pg_conn *conn = db->keeper;
  if (!conn || !read_answers(db, conn)) return NULL;
  db->keeper = NULL;
  return conn;
}

/* The server also finishes the work after this process has ended. It would log the lost client, so
 * this function waits a moment for its answer. */
void pg_days_close(struct db *db) {
  struct pg_conn *conn = db->idle;
  if (db->keeper) pg_conn_close(db->keeper);
  db->keeper = NULL;
  if (!conn || !atomic_load(&db->days_due) || !pg_conn_lives(conn)) return;
  struct pollfd ready = {.fd = PQsocket(conn->pg), .events = POLLIN};
  if (send_keeping(conn)) (void)poll(&ready, 1, LEAVE_MS);
}
