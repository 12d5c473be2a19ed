/* SPDX-License-Identifier: MIT
 */
#include "fleet_raw.h"

#include <libpq-fe.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MOST_SERVERS = 512, BODY_BYTES = 240 };

struct fleet_raw {
  PGconn *pg;
  int servers[MOST_SERVERS], server_count;
  char body[BODY_BYTES];
};

static const struct {
  const char *name, *text;
} statements[] = {
    {"push", "INSERT INTO raw.inbox (name, body) VALUES ($1, $2)"},
    {"push()", "SELECT tidings.push($1, 'tool.stopped', 'info', $2)"},
    {"lock", "SELECT version FROM raw.session WHERE name = $1 FOR UPDATE"},
    {"load", "SELECT n, body FROM raw.inbox WHERE name = $1 ORDER BY n"},
    {"lease", "WITH taken AS (DELETE FROM raw.inbox WHERE name = $1 RETURNING name, n, body) "
              "INSERT INTO raw.live SELECT name, n, body FROM taken"},
    {"leased", "SELECT n, value FROM raw.live WHERE name = $1 ORDER BY n"},
    {"settle", "WITH over AS (DELETE FROM raw.live WHERE name = $1 RETURNING name, n, value) "
               "INSERT INTO raw.history SELECT name, n, value FROM over"},
    {"grow", "UPDATE raw.session SET version = version + 1 WHERE name = $1"},
    {"look", "SELECT version, EXISTS (SELECT FROM raw.inbox WHERE name = 'one') FROM raw.session "
             "WHERE name = 'one'"},
    {"read", "SELECT version FROM raw.session WHERE name = 'one'"},
    {"begin", "BEGIN"},
    {"commit", "COMMIT"},
};

static void check_result(struct fleet_raw *raw, PGresult *result) {
  ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    bench_die("SQL by hand: %s", PQerrorMessage(raw->pg));
  PQclear(result);
}

struct fleet_raw *fleet_raw_open(const char *conninfo, const char *name) {
  struct fleet_raw *raw = calloc(1, sizeof *raw);
  const char *keys[] = {"dbname", "application_name", NULL}, *values[] = {conninfo, name, NULL};
  if (!raw) bench_die("no memory");
  memset(raw->body, 'x', sizeof raw->body);
  raw->pg = PQconnectdbParams(keys, values, 1);
  if (PQstatus(raw->pg) != CONNECTION_OK) bench_die("%s", PQerrorMessage(raw->pg));
  /* Like the plugin: a bitmap scan would visit each row that was deleted since the last vacuum. */
  check_result(raw, PQexec(raw->pg, "SET enable_bitmapscan = off"));
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
    check_result(raw, PQprepare(raw->pg, statements[i].name, statements[i].text, 0, NULL));
  return raw;
}

void fleet_raw_close(struct fleet_raw *raw) {
  PQfinish(raw->pg);
  free(raw);
}

void fleet_raw_push(struct fleet_raw *raw, const char *session) {
  const char *values[] = {session, raw->body};
  const int lengths[] = {0, BODY_BYTES}, formats[] = {0, 1};
  check_result(raw, PQexecPrepared(raw->pg, "push", 2, values, lengths, formats, 1));
}

void fleet_raw_push_in_sql(struct fleet_raw *raw, const char *session) {
  const char *values[] = {session,
                          "Tool `cargo_check` (handle `h_00000000`) has stopped with result "
                          "available, and here is the rest of what is said....."};
  check_result(raw, PQexecPrepared(raw->pg, "push()", 2, values, NULL, NULL, 1));
}

static void run_one(struct fleet_raw *raw, const char *statement) {
  check_result(raw, PQexecPrepared(raw->pg, statement, 0, NULL, NULL, NULL, 1));
}

void fleet_raw_look(struct fleet_raw *raw) { run_one(raw, "look"); }
void fleet_raw_read(struct fleet_raw *raw) { run_one(raw, "read"); }

/* Sends the statements in one round trip. `session`: the parameter of the statements that have one.
 */
static void together(struct fleet_raw *raw, const char *session, const char *const *names) {
  const char *values[] = {session};
  int count = 0;
  for (; names[count]; count++) {
    bool plain = strcmp(names[count], "begin") == 0 || strcmp(names[count], "commit") == 0;
    if (!PQsendQueryPrepared(raw->pg, names[count], !plain, values, NULL, NULL, 1))
      bench_die("%s", PQerrorMessage(raw->pg));
  }
  if (!PQpipelineSync(raw->pg)) bench_die("%s", PQerrorMessage(raw->pg));
  for (int i = 0; i < count; i++) {
    check_result(raw, PQgetResult(raw->pg));
    PQclear(PQgetResult(raw->pg)); /* the NULL at the end of a statement's results */
  }
  PQclear(PQgetResult(raw->pg)); /* the result of the sync */
}

void fleet_raw_deliver(struct fleet_raw *raw, const char *session) {
  static const char *const trips[][5] = {{"begin", "lock", "load", NULL},
                                         {"lease", "grow", "commit", NULL},
                                         {"begin", "lock", "leased", NULL},
                                         {"settle", "grow", "commit", NULL}};
  if (!PQenterPipelineMode(raw->pg)) bench_die("%s", PQerrorMessage(raw->pg));
  for (size_t i = 0; i < sizeof trips / sizeof *trips; i++) together(raw, session, trips[i]);
  if (!PQexitPipelineMode(raw->pg)) bench_die("%s", PQerrorMessage(raw->pg));
}

void fleet_raw_empty(struct fleet_raw *raw) {
  check_result(raw, PQexec(raw->pg, "TRUNCATE raw.inbox, tidings.inbox"));
  check_result(raw, PQexec(raw->pg, "CHECKPOINT"));
}

/* -- the server's processes -------------------------------------------------------------------- */

void fleet_raw_find_servers(struct fleet_raw *raw, const char *name) {
  PGresult *result =
      PQexecParams(raw->pg, "SELECT pid FROM pg_stat_activity WHERE application_name = $1", 1, NULL,
                   &name, NULL, NULL, 0);
  raw->server_count = PQntuples(result);
  if (raw->server_count > MOST_SERVERS) bench_die("too many connections");
  for (int i = 0; i < raw->server_count; i++)
    raw->servers[i] = (int)strtol(PQgetvalue(result, i, 0), NULL, 10);
  check_result(raw, result);
}

static uint64_t cpu_of(int pid) {
  char path[64];
  char line[64] = "";
  (void)snprintf(path, sizeof path, "/proc/%d/schedstat", pid);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  if (!fgets(line, sizeof line, file)) line[0] = '\0';
  (void)fclose(file);
  return strtoull(line, NULL, 10);
}

uint64_t fleet_raw_server_ns(const struct fleet_raw *raw, bool own) {
  uint64_t ns = own ? cpu_of(PQbackendPID(raw->pg)) : 0;
  for (int i = 0; !own && i < raw->server_count; i++) ns += cpu_of(raw->servers[i]);
  return ns;
}

/* -- one processor ----------------------------------------------------------------------------- */

static void hold(pid_t pid, const cpu_set_t *one) {
  if (sched_setaffinity(pid, sizeof *one, one))
    bench_die("process %d cannot be held on a processor", (int)pid);
}

void fleet_raw_hold(const struct fleet_raw *raw) {
  cpu_set_t all, one;
  size_t last = CPU_SETSIZE - 1;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof all, &all))
    bench_die("it is not known which processors there are");
  while (last && !CPU_ISSET(last, &all)) last--;
  CPU_SET(last, &one);
  hold(0, &one);
  hold(PQbackendPID(raw->pg), &one);
  for (int i = 0; i < raw->server_count; i++) hold(raw->servers[i], &one);
}
