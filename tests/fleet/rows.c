/* SPDX-License-Identifier: MIT
 *
 * tests/fleet/rows.c: rows URL SEED STEPS: two processes share a store and take turns; a third one
 * reads it at the end. The first process of the test says whose turn it is, and reads the tables.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rows.h"

enum { PROCESSES = 3, ANSWER_S = 1200 };

/* The orders to a process, which answers each with a byte for the result. */
enum ask {
  STEP = 's',
  CHECK = 'c',   /* all sessions */
  TIDY = 't',    /* moves ended rows to the history, except a few */
  HOLD = 'h',    /* begins a write, and keeps the session's lock until LET_GO */
  LET_GO = 'k',  /* ends the write of HOLD */
  HURRY = 'u',   /* makes a write with little time, which is refused */
  SHORTEN = 'n', /* makes a write with little time, which succeeds */
  GIVE_UP = 'g', /* begins a write with much time, and gives it up */
  EMPTY = 'e',   /* begins more writes than there may be connections, and writes nothing */
  WRITE = 'w'
};
enum { DONE = '.', REFUSED = 'r' };

/* -- a process --------------------------------------------------------------------------------- */

static struct db_txn holding;

static void hold_session(void) {
  struct db_scope scope = {.session = 1};
  struct tidings_error error = {.size = sizeof error};
  db_txn_clear(&holding);
  if (db_write(rows_self.db, &scope, store_deadline_in(LONG_MS), &holding, &error))
    rows_broken("%s", error.text);
}

/* Makes a write succeed with a short limit of time, which stays the server's limit. */
static void shorten(void) {
  int *ms = &rows_self.model->short_ms;
  for (*ms = SHORT_MS; rows_write(0, (uint32_t)*ms, false, TIDINGS_E_BUSY); *ms *= 2)
    if (*ms > LONG_MS) rows_broken("no write was in time");
}

static void commit_nothing(void) {
  for (int i = 0; i <= MOST_CONNECTIONS; i++) {
    struct tidings_error error = {.size = sizeof error};
    hold_session();
    if (db_commit(&holding, &error)) rows_broken("%s", error.text);
  }
}

static int answer(int ask) {
  switch (ask) {
  case STEP: rows_step(); break;
  case CHECK:
    for (uint32_t i = 0; i < SESSIONS; i++) rows_check(i);
    break;
  case TIDY:
    for (uint32_t i = 0; i < SESSIONS; i++) (void)rows_write(i, LONG_MS, false, 0);
    break;
  case HOLD: hold_session(); break;
  case EMPTY: commit_nothing(); break;
  case LET_GO: db_end(&holding); break;
  case HURRY: return rows_write(0, SHORT_MS, false, TIDINGS_E_BUSY) ? REFUSED : DONE;
  case SHORTEN: shorten(); break;
  case GIVE_UP: (void)rows_write(0, LONG_MS, true, 0); break;
  default: (void)rows_write(0, LONG_MS, false, 0);
  }
  return DONE;
}

static void log_line(void *context, uint32_t severity, const char *text) {
  (void)context;
  printf("# process %c, %u: %s\n", rows_self.name, severity, text);
}

static int first_value(const void *context, bool for_older_builds, struct buffer *ret_value) {
  (void)context;
  (void)for_older_builds;
  buffer_text(ret_value, "first");
  return ret_value->failed ? -1 : 0;
}

/* Runs until the first process has ended. */
static int run_process(const char *url, int asked) {
  uint8_t kinds[KINDS] = {0};
  struct tidings_error error = {.size = sizeof error};
  char ask;
  for (int i = 0; i < ROW_KINDS; i++)
    kinds[rows_kind(i)] = i == LOOKED ? DB_KIND_LOOKED_UP : rows_ends(i) ? DB_KIND_ENDS : 0;
  struct db_options options = {.place = url,
                               .log = log_line,
                               .budget_ms = LONG_MS,
                               .first = {{0, 0, 0, 0, PG_META}},
                               .first_value = first_value,
                               .kinds = kinds,
                               .kind_count = KINDS};
  if (db_open(&options, &rows_self.db, &error)) rows_broken("%s", error.text);
  db_admit(rows_self.db);
  while (read(asked, &ask, 1) == 1) {
    char said = (char)answer(ask);
    if (write(asked, &said, 1) != 1) break;
  }
  rows_release_snapshot();
  db_close(rows_self.db);
  return 0;
}

/* -- the conductor ----------------------------------------------------------------------------- */

static int ends[PROCESSES]; /* of the pairs of sockets */

static void start_processes(const char *url) {
  for (int i = 0; i < PROCESSES; i++) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) rows_broken("socketpair: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0) rows_broken("fork: %s", strerror(errno));
    if (pid) {
      close(pair[1]);
      ends[i] = pair[0];
      continue;
    }
    for (int other = 0; other < i; other++) close(ends[other]);
    close(pair[0]);
    rows_self.name = (char)('a' + i);
    int status = run_process(url, pair[1]);
    (void)fflush(stdout);
    _exit(status);
  }
}

static void ask(int process, enum ask what) {
  char byte = (char)what;
  if (write(ends[process], &byte, 1) != 1) rows_broken("process %c has ended", 'a' + process);
}

/* Returns the answer; 0: none came in time. */
static int await(int process, int ms) {
  struct pollfd ready = {.fd = ends[process], .events = POLLIN};
  char byte;
  int count = poll(&ready, 1, ms);
  if (!count) return 0;
  if (count < 0 || read(ends[process], &byte, 1) != 1)
    rows_broken("process %c has ended", 'a' + process);
  return byte;
}

static void call(int process, enum ask what) {
  ask(process, what);
  int got = await(process, ANSWER_S * 1000);
  if (got != DONE) rows_broken("process %c: '%c' became %d", 'a' + process, (int)what, got);
}

static long count_of(PGconn *pg, const char *sql) {
  PGresult *result = PQexec(pg, sql);
  if (PQresultStatus(result) != PGRES_TUPLES_OK) rows_broken("%s: %s", sql, PQerrorMessage(pg));
  long count = strtol(PQgetvalue(result, 0, 0), NULL, 10);
  PQclear(result);
  return count;
}

/* Checks that B waits for the session that A has locked, although B's last limit was shorter. */
static void wait_longer(PGconn *pg, int short_ms) {
  char waits[160];
  (void)snprintf(waits, sizeof waits,
                 "SELECT count(*) FROM pg_locks WHERE NOT granted AND waitstart < "
                 "clock_timestamp() - interval '%d ms'",
                 2 * short_ms);
  ask(1, WRITE);
  while (!count_of(pg, waits))
    if (await(1, 20)) rows_broken("a write does not wait as long as it may");
  call(0, LET_GO);
  if (await(1, ANSWER_S * 1000) != DONE) rows_broken("a write that waited failed");
}

static void check_limits(PGconn *pg) {
  call(0, HOLD);
  ask(1, HURRY);
  if (await(1, ANSWER_S * 1000) != REFUSED) rows_broken("two have a session at once");
  wait_longer(pg, SHORT_MS);
  printf("ok - a call that was refused leaves the next one all of its time\n");
  for (int gives_up = 0; gives_up < 2; gives_up++) {
    call(1, SHORTEN);
    if (gives_up) call(1, GIVE_UP);
    call(0, HOLD);
    wait_longer(pg, rows_self.model->short_ms);
  }
  printf("ok - so does a short one, also before one that was given up\n");
}

/* Checks that a commit ends the transaction on the server too, and that the connection stays. */
static void check_connections(PGconn *pg) {
  char sql[160];
  long now = count_of(pg, "SELECT extract(epoch FROM clock_timestamp()) * 1000000");
  call(0, EMPTY);
  call(0, WRITE);
  (void)snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidings' AND "
                 "extract(epoch FROM backend_start) * 1000000 > %ld",
                 now);
  if (count_of(pg, sql)) rows_broken("a commit of nothing has cost a connection");
  printf("ok - who commits nothing keeps its connection\n");
}

static void check_tables(PGconn *pg) {
  char sql[160];
  long twice = count_of(pg, "SELECT count(*) FROM (SELECT FROM history GROUP BY session, kind, n, "
                            "day HAVING count(*) > 1) AS twice");
  if (twice) rows_broken("%ld rows are in the history of one day twice", twice);
  for (int i = 0; i < SESSIONS * ROW_KINDS; i++) {
    const struct session *session = &rows_self.model->sessions[i / ROW_KINDS];
    int kind = i % ROW_KINDS;
    uint32_t newest = rows_newest(session, kind);
    uint64_t ended = session->ended[kind] < newest ? session->ended[kind] : newest;
    long most = rows_ends(kind) ? PG_FEW_ENDED : 0;
    for (uint32_t at = 0; at < rows_beyond(kind); at++) {
      const struct row *row = &session->rows[kind][at];
      most += row->there && (!rows_ends(kind) || at >= ended || row->again);
    }
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM live WHERE session = %d AND kind = %d",
                   i / ROW_KINDS + 1, rows_kind(kind));
    long live = count_of(pg, sql);
    if (live > most)
      rows_broken("session %d, kind %d: %ld rows are live, not %ld", i / ROW_KINDS, kind, live,
                  most);
  }
  if (count_of(pg, "SELECT count(*) FROM inbox")) rows_broken("pushes were not taken");
  printf("ok - the tables have each row once; %ld are history\n",
         count_of(pg, "SELECT count(*) FROM history"));
}

static PGconn *connect_beside(const char *url) {
  struct tidings_error error = {.size = sizeof error};
  struct pg_place place;
  char sql[160];
  if (pg_place_parse(url, &place, &error)) rows_broken("%s", error.text);
  PGconn *pg = PQconnectdb(place.conninfo);
  (void)snprintf(sql, sizeof sql, "SELECT length(set_config('search_path', '%s', false))",
                 place.schema);
  (void)count_of(pg, sql);
  pg_place_free(&place);
  return pg;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  rows_self.name = '-';
  rows_self.model = mmap(NULL, sizeof *rows_self.model, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (rows_self.model == MAP_FAILED) return 2;
  rows_self.model->random = strtoull(arguments[2], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
  start_processes(arguments[1]);
  for (unsigned long steps = strtoul(arguments[3], NULL, 10); steps; steps--) {
    rows_self.model->step++;
    call((int)rows_random(2), STEP);
  }
  call(0, TIDY);
  for (int i = PROCESSES; i--;) call(i, CHECK);
  printf("ok - each process reads what the model says\n");
  PGconn *pg = connect_beside(arguments[1]);
  check_tables(pg);
  check_connections(pg);
  check_limits(pg);
  PQfinish(pg);
  for (int i = 0; i < PROCESSES; i++) close(ends[i]);
  for (int status; wait(&status) > 0;)
    if (!WIFEXITED(status) || WEXITSTATUS(status)) return 1;
  return 0;
}
