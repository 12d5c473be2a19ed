/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/open.c: opening and closing a store in a database.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/fnv.h"
#include "store/db/postgres/local.h"
#include "store/db/postgres/remote.h"

/* Older tables may lack the columns that the second statement names, so the schema number is read
 * first. A login that may only push may not execute the second statement. */
static int check_schema(struct db *db, struct pg_conn *conn, store_deadline deadline,
                        struct tidings_error *error) {
  PGresult *results[2] = {NULL, NULL};
  int rc = PQsendQueryParams(conn->pg, "SELECT " PG_NUMBERS ", " PG_STORE_LIMITS " FROM store", 0,
                             NULL, NULL, NULL, NULL, 0) &&
                   PQsendQueryParams(conn->pg, pg_days_query, 0, NULL, NULL, NULL, NULL, 0)
               ? pg_run(db, conn, deadline, results, 2)
               : PG_E_LOST;
  bool found = PQntuples(results[0]) == 1;
  if (rc == PG_E_OLD_TABLES && !found) rc = PG_E_NO_SCHEMA; /* somebody else's table */
  int code = found ? pg_schema_check(&db->place, results[0], &db->revision, error) : 0;
  if (found) {
    atomic_store(&db->pending_most, pg_int_text(results[0], 0, 2));
    atomic_store(&db->is_full, PQgetvalue(results[0], 0, 3)[0] == 't');
  }
  db->only_pushes = found && rc == PG_E_DENIED && db->revision >= PG_SCHEMA_OF_DAYS;
  if (!code && rc && !db->only_pushes) code = db_failed(error, rc, "open its schema");
  if (!code && !rc) pg_days_read(db, results[1]);
  db->days_tried_ms = store_uptime_ms();
  PQclear(results[0]);
  PQclear(results[1]);
  return code;
}

/* Writes the store's first row if it is missing. 'tidings store init' has made the tables. */
static int put_first(struct db *db, const struct db_options *options, struct tidings_span first,
                     store_deadline deadline, struct tidings_error *error) {
  struct db_txn txn = {.touched_count = 0};
  struct tidings_span value;
  int code = db_write(db, NULL, deadline, &txn, error);
  if (code) return code;
  int rc = db_get(&txn, &options->first, &value);
  if (!rc && value.ptr) {
    db_end(&txn);
    return 0;
  }
  if (!rc) rc = pg_txn_own(&txn, 0);
  if (!rc) rc = db_get(&txn, &options->first, &value);
  if (!rc && !value.ptr) rc = db_put(&txn, &options->first, first);
  if (!rc) return db_commit(&txn, error);
  db_end(&txn);
  return db_failed(error, rc, "be opened");
}

/* A login that may only push sees a store with this row and no session. */
static int keep_first(struct db *db, const struct db_options *options, struct tidings_span value,
                      struct tidings_error *error) {
  struct pg_row *row =
      pg_map_put(&db->store_rows, options->first.bytes[4], pg_key_n(&options->first), value.len);
  if (!row) return fail(error, TIDINGS_E_NOMEM, "no memory to open a store");
  memcpy(row->value, value.ptr, value.len);
  return 0;
}

/* Does this process have the store open already? The other descriptors of the process show it. */
enum others {
  OTHERS_NONE,
  OTHERS_GIVE_WAY, /* another thread is opening it too, but this one was first */
  OTHERS_HAVE_IT
};

/* Looks at the memory files of that name. A file with a byte shows that its instance has the store;
 * among empty files, the one with the lowest descriptor was first. Returns 0 or an errno. */
static int look_for_others(const char *name, int own, enum others *ret_others) {
  enum { LINK_BYTES = 128 };
  char wanted[LINK_BYTES];
  int len = snprintf(wanted, sizeof wanted, "/memfd:%s ", name);
  enum others others = OTHERS_NONE;
  DIR *fds =
      opendir("/proc/thread-self/fd"); /* /proc/self/fd is empty if the main thread has ended */
  if (!fds) return errno;
  for (const struct dirent *entry; others != OTHERS_HAVE_IT && (entry = readdir(fds));) {
    char link[LINK_BYTES];
    struct stat file;
    ssize_t got = readlinkat(dirfd(fds), entry->d_name, link, sizeof link);
    long fd = strtol(entry->d_name, NULL, 10);
    if (got < len || memcmp(link, wanted, (size_t)len) != 0 || fd == own ||
        fstatat(dirfd(fds), entry->d_name, &file, 0))
      continue;
    others = file.st_size || fd < own ? OTHERS_HAVE_IT : OTHERS_GIVE_WAY;
  }
  closedir(fds);
  *ret_others = others;
  return 0;
}

/* Refuses a second instance of the store in one process, because other processes could not tell the
 * two apart. Each instance has a file in memory, whose name identifies the store, so that another
 * copy of this plugin in the process sees it too. The file is made before the search for others: of
 * two threads at most one continues, and the one that was not first gives up. The file ends with
 * the process. Its name has the pid, because a child inherits its parent's files. */
static int enter_once(struct db *db, store_deadline deadline, struct tidings_error *error) {
  static const struct timespec pause = {.tv_nsec = 1000000};
  char name[80];
  enum others others = OTHERS_NONE;
  uint64_t hash = fnv_span(FNV_START, span_text(db->place.conninfo));
  hash = fnv_span(hash, span_text(db->place.schema));
  (void)snprintf(name, sizeof name, "tidings.%llx.%u.%llx",
                 (unsigned long long)db->self.pid_namespace, db->self.pid,
                 (unsigned long long)hash);
  db->entered = memfd_create(name, MFD_CLOEXEC);
  int reason = db->entered < 0 ? errno : look_for_others(name, db->entered, &others);
  while (!reason && others == OTHERS_GIVE_WAY && store_deadline_left_ms(deadline)) {
    nanosleep(&pause, NULL);
    reason = look_for_others(name, db->entered, &others);
  }
  if (!reason && others == OTHERS_NONE && ftruncate(db->entered, 1)) reason = errno;
  if (reason)
    return fail(error, TIDINGS_E_STORE,
                "store %s: this process cannot look whether it has it open: %s", db->place.shown,
                strerror(reason));
  if (others == OTHERS_NONE) return 0;
  return fail(error, TIDINGS_E_STORE,
              "store %s is already open in this process; use the instance that has it, or close "
              "that first",
              db->place.shown);
}

/* Cancels the work that calls have given up, because no later call of this process will. */
static void cancel_given_up(struct db *db) {
  enum { LEAVE_MS = 200 };
  struct pg_conn *conn = NULL;
  if (db->waits_for_standby && pg_conn_any_given_up(db) &&
      pg_conn_open(db, store_deadline_in(LEAVE_MS), &conn, NULL) == 0)
    pg_conn_close(conn);
}

static void free_db(struct db *db) {
  struct pg_conn *conn;
  pg_wake_finish(db);
  pg_local_finish(db);
  cancel_given_up(db);
  if (db->entered >= 0) close(db->entered);
  pg_alive_end(db);
  pg_days_close(db);
  while ((conn = db->idle)) {
    db->idle = conn->next;
    pg_conn_close(conn);
  }
  for (size_t i = 0; i < CACHED_SESSIONS; i++) pg_session_free(db->cache[i]);
  pg_map_free(&db->store_rows);
  pg_map_free(&db->void_rows);
  pg_place_free(&db->place);
  pthread_mutex_destroy(&db->lock);
  pthread_mutex_destroy(&db->alive_lock);
  pthread_cond_destroy(&db->given);
  free(db);
}

static int open_db(struct db *db, const struct db_options *options, struct tidings_error *error) {
  store_deadline deadline = store_deadline_in(options->budget_ms);
  struct pg_conn *conn = NULL;
  char reason[OWNER_REASON_BYTES];
  int code = pg_place_parse(options->place, &db->place, error);
  if (!code && owner_of_process(0, &db->self)) {
    owner_reason((uint32_t)getpid(), reason);
    code = fail(error, TIDINGS_E_STORE, "this process cannot be identified: %s", reason);
  }
  if (!code) code = enter_once(db, deadline, error);
  if (!code) db->local = pg_local_new();
  if (!code && (!db->local || pg_wake_init(db)))
    code = fail(error, TIDINGS_E_NOMEM, "no memory to open a store");
  if (!code) code = pg_conn_open(db, deadline, &conn, error);
  if (code) return code;
  code =
      check_schema(db, conn, deadline, error); /* the statements of this build need this schema */
  if (code) {
    pg_conn_close(conn);
    return code;
  }
  db->connections++;
  pg_conn_give(db, conn);
  struct buffer first = BUFFER_EMPTY;
  if (options->first_value(options->first_context, pg_life_has_older_builds(db), &first))
    code = fail(error, TIDINGS_E_NOMEM, "no memory to open a store");
  else if (db->only_pushes) code = keep_first(db, options, buffer_view(&first), error);
  else code = put_first(db, options, buffer_view(&first), deadline, error);
  buffer_free(&first);
  return code;
}

int db_open(const struct db_options *options, struct db **ret_db, struct tidings_error *error) {
  struct db *db = calloc(1, sizeof *db);
  if (!db) return fail(error, TIDINGS_E_NOMEM, "no memory to open a store");
  db->entered = -1;
  atomic_init(&db->pending_most, INT64_MAX);
  db->log = (struct db_log_to){options->log, options->log_context};
  for (size_t i = 0; i < KINDS && i < options->kind_count; i++) db->kinds[i] = options->kinds[i];
  (void)pthread_mutex_init(&db->lock, NULL);
  (void)pthread_mutex_init(&db->alive_lock, NULL);
  pthread_condattr_t monotonic; /* because deadlines use this clock */
  (void)pthread_condattr_init(&monotonic);
  (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&db->given, &monotonic);
  (void)pthread_condattr_destroy(&monotonic);
  int code = open_db(db, options, error);
  if (code) free_db(db);
  else *ret_db = db;
  return code;
}

void db_admit(struct db *db) { (void)db; }

bool db_is_alone(const struct db *db) {
  (void)db; /* other machines may change the store at any time */
  return false;
}

void db_note_clean(struct db *db) { (void)db; }

void db_close(struct db *db) { free_db(db); }
const char *db_place(const struct db *db) { return db->place.shown; }
const struct owner *db_self(const struct db *db) { return &db->self; }
