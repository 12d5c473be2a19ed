/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/conn.c: opens connections, and makes one round trip with a time limit.
 * Connections stay in pipeline mode. A caller whose deadline passes closes the connection, and the
 * server then rolls back.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/db/postgres/life.h"

/* -- a round trip ------------------------------------------------------------------------------ */

/* Returns 0, PG_E_LATE or PG_E_LOST. */
static int wait_for(PGconn *pg, short events, store_deadline deadline) {
  for (;;) {
    struct pollfd ready = {.fd = PQsocket(pg), .events = events};
    int left = store_deadline_left_ms(deadline);
    if (ready.fd < 0) return PG_E_LOST;
    int count = poll(&ready, 1, left);
    if (count > 0) return 0;
    if (count == 0) return PG_E_LATE;
    if (errno != EINTR) return PG_E_LOST;
  }
}

static int flush(PGconn *pg, store_deadline deadline) {
  for (;;) {
    int left = PQflush(pg);
    if (left < 0) return PG_E_LOST;
    if (!left) return 0;
    int rc = wait_for(pg, POLLOUT | POLLIN, deadline);
    if (rc) return rc;
    if (!PQconsumeInput(pg)) return PG_E_LOST;
  }
}

static int next_result(PGconn *pg, store_deadline deadline, PGresult **ret_result) {
  while (PQisBusy(pg)) {
    int rc = wait_for(pg, POLLIN, deadline);
    if (rc) return rc;
    if (!PQconsumeInput(pg) && PQisBusy(pg)) return PG_E_LOST; /* else the server sent why */
  }
  *ret_result = PQgetResult(pg);
  return 0;
}

static bool is_good(const PGresult *result) {
  ExecStatusType status = PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* Tests that kill a process in its commit look for the name of that statement. */
static void name_statement(enum pg_statement statement, char name[PG_NAME_BYTES]) {
  if (statement == PG_COMMIT) (void)snprintf(name, PG_NAME_BYTES, "tidings_commit");
  else if (statement == PG_PUSH) (void)snprintf(name, PG_NAME_BYTES, "tidings_commit_push");
  else if (statement == PG_PUSH_PLAIN) (void)snprintf(name, PG_NAME_BYTES, "tidings_commit_row");
  else if (statement == PG_PUSH_NEXT) (void)snprintf(name, PG_NAME_BYTES, "tidings_commit_next");
  else if (statement == PG_PUSH_COUNT) (void)snprintf(name, PG_NAME_BYTES, "tidings_commit_all");
  else (void)snprintf(name, PG_NAME_BYTES, "t%d", (int)statement);
}

/* Prepares a statement in the pipeline in which it is first used, because most connections need few
 * of them. */
static int send_prepare(struct pg_conn *conn, enum pg_statement statement) {
  int count = 0;
  char *name = conn->names[statement];
  if (conn->prepared >> statement & 1) return 0;
  const Oid *types = pg_statement_types(statement, &count);
  name_statement(statement, name);
  if (!PQsendPrepare(conn->pg, name, pg_statement_text(statement), count, types)) return PG_E_LOST;
  conn->prepared |= UINT64_C(1) << statement;
  conn->prepares[conn->prepare_count++] = (struct pg_prepare){conn->queued++, statement};
  return 0;
}

/* A short limit ends with the transaction, so that the next call sets its own under the limit of
 * the connection. */
static int send_limit(struct pg_conn *conn) {
  enum { SHORT_MS = 200 };
  struct pg_params params = {.count = 0};
  char text[16];
  int limit = conn->next_limit_ms;
  conn->next_limit_ms = 0;
  (void)snprintf(text, sizeof text, "%d", limit);
  pg_param_bytes(&params, span_text(text));
  pg_param_bool(&params, limit < SHORT_MS);
  int rc = pg_send(conn, PG_LIMITS, &params);
  conn->prepares[conn->prepare_count++] = (struct pg_prepare){conn->queued - 1, PG_STATEMENTS};
  if (limit >= SHORT_MS) conn->limit_ms = limit;
  return rc;
}

int pg_send(struct pg_conn *conn, enum pg_statement statement, const struct pg_params *params) {
  static const int formats[PG_MOST_PARAMS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  int rc = conn->next_limit_ms ? send_limit(conn) : 0;
  if (!rc) rc = send_prepare(conn, statement);
  if (rc) return rc;
  conn->queued++;
  return PQsendQueryPrepared(conn->pg, conn->names[statement], params ? params->count : 0,
                             params ? params->values : NULL, params ? params->lengths : NULL,
                             formats, 1)
             ? 0
             : PG_E_LOST;
}

/* Does result number `at` of the pipeline answer a prepare, or the setting of the limit? If a
 * prepare failed, because a statement before it failed, it is sent again when the statement is used
 * again. */
static bool was_prepare(struct pg_conn *conn, size_t at, bool good) {
  for (size_t i = 0; i < conn->prepare_count; i++) {
    if (conn->prepares[i].at != at) continue;
    if (!good) conn->prepared &= ~(UINT64_C(1) << conn->prepares[i].statement);
    return true;
  }
  return false;
}

/* Has the server rolled the transaction back? An ERROR does that. FATAL and PANIC end the
 * connection, and a commit that was under way may have been made, or be made by the recovery after
 * a crash. */
static bool rolls_back(const PGresult *result) {
  const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity && strcmp(severity, "ERROR") == 0;
}

/* Returns the error of a connection that was closed after the error `first`. Before its first
 * statement any error says why. Poolers send the same state for each reason to close a connection;
 * on a connection in use it means that the pooler ends or has lost the server. */
static int error_of_closed(const struct pg_conn *conn, int first, bool rolled_back) {
  bool in_use = conn->prepared != 0;
  bool says_why = first != PG_E_REFUSED && (!in_use || (rolled_back && first != PG_E_POOLED));
  return first && says_why ? first : PG_E_LOST;
}

/* Reads to the end of the pipeline. */
static int gather(struct db *db, struct pg_conn *conn, store_deadline deadline, PGresult **results,
                  size_t count) {
  PGconn *pg = conn->pg;
  size_t at = 0;
  int first = 0;
  bool rolled_back = false;
  for (size_t all = 0;;) {
    PGresult *result = NULL;
    int rc = next_result(pg, deadline, &result);
    if (rc) return rc;
    if (!result) { /* the end of a statement's results, or the connection broke */
      if (PQstatus(pg) == CONNECTION_BAD) return PG_E_LOST;
      continue;
    }
    if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) {
      PQclear(result);
      return first;
    }
    bool good = is_good(result);
    if (!good && PQresultStatus(result) != PGRES_PIPELINE_ABORTED && !first) {
      first = pg_error_of(db, result);
      rolled_back = rolls_back(result);
    }
    if (PQstatus(pg) == CONNECTION_BAD) {
      PQclear(result);
      return error_of_closed(conn, first, rolled_back);
    }
    if (was_prepare(conn, all++, good) || at == count) PQclear(result);
    else results[at++] = result;
  }
}

int pg_run(struct db *db, struct pg_conn *conn, store_deadline deadline, PGresult **results,
           size_t count) {
  for (size_t i = 0; i < count; i++) results[i] = NULL;
  int rc = PQpipelineSync(conn->pg) ? flush(conn->pg, deadline) : PG_E_LOST;
  if (!rc) rc = gather(db, conn, deadline, results, count);
  conn->queued = conn->prepare_count = 0;
  if (rc) conn->limit_ms = 0;
  return rc;
}

/* -- connecting -------------------------------------------------------------------------------- */

static int refuse_server(struct db *db, PGresult *const *results, PGconn *pg,
                         struct tidings_error *error) {
  const char *place = db->place.shown;
  const PGresult *facts = results[1];
  if (!facts || PQntuples(facts) != 1)
    return fail(error, TIDINGS_E_STORE, "store %s: the database does not answer as PostgreSQL does",
                place);
  if (PQserverVersion(pg) < 150000)
    return fail(error, TIDINGS_E_STORE,
                "store %s: the server is PostgreSQL %d; expected 15 or newer: upgrade it", place,
                PQserverVersion(pg) / 10000);
  if (strcmp(PQgetvalue(facts, 0, 0), "on") == 0)
    return fail(error, TIDINGS_E_STORE,
                "store %s: the database is read-only (a standby?); name the primary, or add "
                "target_session_attrs=read-write to the URL",
                place);
  return 0;
}

/* Simulated hosts set their clock themselves. */
static void take_clock(struct db *db, const PGresult *facts) {
  db->hosts_clock = PQgetvalue(facts, 0, 2)[0] == 't';
  pg_clock_read(db, pg_int_text(facts, 0, 1));
}

/* With these settings the server notices within 15 s that this machine is gone, and releases its
 * locks. It does not end an idle connection, which may show that a host is alive. */
#define SET_LIVELINESS                                                                             \
  "set_config('tcp_keepalives_idle', '5', false), "                                                \
  "set_config('tcp_keepalives_interval', '5', false), "                                            \
  "set_config('tcp_keepalives_count', '2', false), "                                               \
  "set_config('tcp_user_timeout', '15000', false), "                                               \
  "set_config('idle_session_timeout', '0', false), "                                               \
  "set_config('idle_in_transaction_session_timeout', '10000', false), "

/* Writes db->given_up as an array of SQL. */
static void list_given_up(struct db *db, char *text, size_t size) {
  size_t len = 0;
  pthread_mutex_lock(&db->lock);
  for (size_t i = 0; i < PG_GIVEN_UP && db->given_up[i]; i++)
    len += (size_t)snprintf(text + len, size - len, "%c%d", len ? ',' : '{', db->given_up[i]);
  pthread_mutex_unlock(&db->lock);
  (void)snprintf(text + len, size - len, "%s", len ? "}" : "{}");
}

static void forget_given_up(struct db *db) {
  pthread_mutex_lock(&db->lock);
  memset(db->given_up, 0, sizeof db->given_up);
  pthread_mutex_unlock(&db->lock);
}

/* A server that waits for a lost standby does not check whether its client is still connected. */
void pg_conn_give_up(struct db *db, const struct pg_conn *conn) {
  if (PQtransactionStatus(conn->pg) != PQTRANS_ACTIVE) return;
  pthread_mutex_lock(&db->lock);
  size_t at = 0;
  while (at < PG_GIVEN_UP - 1 && db->given_up[at]) at++;
  db->given_up[at] = PQbackendPID(conn->pg);
  pthread_mutex_unlock(&db->lock);
}

bool pg_conn_any_given_up(const struct db *db) { return db->given_up[0] != 0; }

/* The server keeps plans, and may have made them while tables were empty. So sequential scans,
 * sorts and bitmap scans are off, and queries use an index. JIT is off, because the server would
 * compile a query without an index: it counts as very expensive. A bitmap scan would visit each row
 * that was deleted since the last vacuum, which is most of an inbox; an index scan marks the
 * deleted rows that it finds, and skips them the next time. */
static int set_up(struct db *db, struct pg_conn *conn, store_deadline deadline,
                  struct tidings_error *error) {
  static const Oid text[] = {25};
  const char *path[] = {db->place.schema};
  char processes[PG_GIVEN_UP * 12 + 4];
  const char *given_up[] = {processes};
  list_given_up(db, processes, sizeof processes);
  PGresult *results[2] = {NULL, NULL};
  if (!PQsendQueryParams(conn->pg,
                         "SELECT set_config('search_path', $1, false), "
                         "set_config('default_transaction_isolation', 'read committed', false), "
                         "set_config('client_min_messages', 'error', false), "
                         "set_config('plan_cache_mode', 'force_generic_plan', false), "
                         "set_config('enable_seqscan', 'off', false), "
                         "set_config('enable_sort', 'off', false), "
                         "set_config('enable_bitmapscan', 'off', false), "
                         "set_config('enable_hashjoin', 'off', false), "
                         "set_config('enable_mergejoin', 'off', false), "
                         "set_config('jit', 'off', false), "
                         "set_config('timezone', 'UTC', false), " SET_LIVELINESS
                         "set_config('synchronous_commit', CASE WHEN current_setting("
                         "'synchronous_commit') IN ('off', 'local', 'remote_write') THEN "
                         "coalesce(nullif(current_setting('tidings.may_lose', true), ''), 'on') "
                         "ELSE current_setting('synchronous_commit') END, false)",
                         1, text, path, NULL, NULL, 0) ||
      !PQsendQueryParams(conn->pg,
                         "SELECT CASE WHEN pg_is_in_recovery() THEN 'on' ELSE "
                         "current_setting('transaction_read_only') END, "
                         "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, "
                         "coalesce(current_setting('tidings.clock', true), '') = 'host', "
                         "pg_backend_pid(), (SELECT count(pg_cancel_backend(pid)) FROM "
                         "pg_stat_activity WHERE pid = ANY ($1::integer[]) AND wait_event = "
                         "'SyncRep'), current_setting('synchronous_standby_names') <> ''",
                         1, text, given_up, NULL, NULL, 0))
    return db_failed(error, PG_E_LOST, "connect");
  int rc = pg_run(db, conn, deadline, results, 2);
  int code = rc ? db_failed(error, rc, "connect") : refuse_server(db, results, conn->pg, error);
  if (!code) take_clock(db, results[1]);
  if (!code) db->waits_for_standby = PQgetvalue(results[1], 0, 5)[0] == 't';
  if (!code && processes[1] != '}') forget_given_up(db);
  int process = code ? 0 : (int)pg_int_text(results[1], 0, 3);
  PQclear(results[0]);
  PQclear(results[1]);
  if (!code && process != PQbackendPID(conn->pg))
    code = pg_pooler_refuse(db, conn, process, deadline, error);
  return code;
}

/* Returns the SQLSTATE in a message; the word before it depends on the
 * server's language. NULL: there is none. */
static const char *state_in(const char *words) {
  for (const char *at = words; (at = strstr(at, ":  ")); at += 3) {
    if (strspn(at + 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 && at[8] == ':') return at + 3;
  }
  return NULL;
}

/* Quotes the first line of the server's message, which never contains the password. */
static int refuse_connection(struct db *db, PGconn *pg, struct tidings_error *error) {
  const char *words = PQerrorMessage(pg), *state = state_in(words);
  int rc = 0;
  if (PQconnectionNeedsPassword(pg) || (state && strncmp(state, "28", 2) == 0))
    return fail(error, TIDINGS_E_STORE,
                "store %s: the database does not let this role in: its password is wrong or "
                "missing; put it into ~/.pgpass or PGPASSWORD",
                db->place.shown);
  if (state && strncmp(state, "53300", 5) == 0) rc = PG_E_NO_CONNECTION_LEFT;
  if (state && strncmp(state, "57P03", 5) == 0) rc = PG_E_STARTING;
  if (rc)
    return fail(error, TIDINGS_E_STORE, "store %s cannot be reached: %s", db->place.shown,
                pg_reason_of(rc));
  if (state) words = state + strlen("53300: ");
  return fail(error, TIDINGS_E_STORE, "store %s cannot be reached: %.*s", db->place.shown,
              (int)strcspn(words, "\n"), words);
}

static void ignore_notice(void *context, const PGresult *notice) {
  (void)context;
  (void)notice;
}

/* Without a receiver, libpq writes the server's notices to the host's stderr. */
void pg_conn_silence(PGconn *pg) { (void)PQsetNoticeReceiver(pg, ignore_notice, NULL); }

static PGconn *start(struct db *db, const struct pg_addresses *found, store_deadline deadline) {
  char timeout[16], tcp[16];
  int left = store_deadline_left_ms(deadline);
  (void)snprintf(timeout, sizeof timeout, "%d", left / 1000 + 1);
  (void)snprintf(tcp, sizeof tcp, "%d", left > 15000 ? left : 15000);
  const char *keys[] = {"dbname",
                        "connect_timeout",
                        "tcp_user_timeout",
                        "keepalives_idle",
                        "keepalives_interval",
                        "keepalives_count",
                        "application_name",
                        "client_encoding",
                        found->count ? "host" : NULL,
                        "hostaddr",
                        "port",
                        NULL};
  const char *values[] = {db->place.conninfo,
                          timeout,
                          tcp,
                          "5",
                          "5",
                          "2",
                          "tidings",
                          "UTF8",
                          found->hosts.bytes,
                          found->addresses.bytes,
                          found->ports.bytes,
                          NULL};
  PGconn *pg = PQconnectStartParams(keys, values, 1);
  if (pg) (void)PQsetErrorVerbosity(pg, PQERRORS_VERBOSE); /* with the state */
  if (pg) pg_conn_silence(pg);
  return pg;
}

/* Waits until the connection is made. */
static int finish_dialing(struct db *db, PGconn *pg, store_deadline deadline,
                          struct tidings_error *error) {
  PostgresPollingStatusType status = PGRES_POLLING_WRITING;
  while (status != PGRES_POLLING_OK) {
    if (PQstatus(pg) == CONNECTION_BAD || status == PGRES_POLLING_FAILED)
      return refuse_connection(db, pg, error);
    if (wait_for(pg, status == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline))
      return fail(error, TIDINGS_E_BUSY,
                  "store %s: the database did not answer in time; nothing was lost, try again",
                  db->place.shown);
    status = PQconnectPoll(pg);
  }
  if (PQsetnonblocking(pg, 1) || !PQenterPipelineMode(pg))
    return db_failed(error, PG_E_LOST, "connect");
  return 0;
}

int pg_conn_dial(struct db *db, store_deadline deadline, struct pg_conn **ret_conn,
                 struct tidings_error *error) {
  struct pg_addresses found = {.count = 0};
  struct pg_conn *conn = calloc(1, sizeof *conn);
  if (!conn) return fail(error, TIDINGS_E_NOMEM, "no memory for a connection");
  int code = pg_addresses_find(&db->place, deadline, &found, error);
  if (!code) {
    conn->pg = start(db, &found, deadline);
    if (!conn->pg) code = fail(error, TIDINGS_E_NOMEM, "no memory for a connection");
  }
  if (!code) code = finish_dialing(db, conn->pg, deadline, error);
  pg_addresses_free(&found);
  if (code) pg_conn_close(conn);
  else *ret_conn = conn;
  return code;
}

int pg_conn_open(struct db *db, store_deadline deadline, struct pg_conn **ret_conn,
                 struct tidings_error *error) {
  struct pg_conn *conn = NULL;
  int code = pg_conn_dial(db, deadline, &conn, error);
  if (code) return code;
  code = set_up(db, conn, deadline, error);
  int rc = code ? 0 : pg_life_look(db, conn, deadline);
  if (rc) code = db_failed(error, rc, "connect");
  conn->limit_ms = PG_NO_LIMIT;
  if (code) pg_conn_close(conn);
  else *ret_conn = conn;
  return code;
}

void pg_conn_close(struct pg_conn *conn) {
  if (conn) PQfinish(conn->pg);
  free(conn);
}

/* A server that ends sends the reason before it closes, so data to read also means that the
 * connection ends. */
bool pg_conn_lives(struct pg_conn *conn) {
  struct pollfd ready = {.fd = PQsocket(conn->pg), .events = POLLIN | POLLRDHUP};
  if (ready.fd < 0) return false;
  if (poll(&ready, 1, 0) > 0 &&
      (ready.revents & (POLLRDHUP | POLLHUP | POLLERR) || !PQconsumeInput(conn->pg)))
    return false;
  return PQstatus(conn->pg) == CONNECTION_OK;
}
