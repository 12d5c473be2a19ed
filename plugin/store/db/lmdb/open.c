/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/open.c: opens and closes a store in a folder.
 */
#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"
#include "common/store_url.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/ring.h"

/* There is one writer, and every process reads the same pages, so no function of db_remote is
 * needed. */
const struct db_remote *const db_remote = NULL;
const uint64_t db_layout = DB_LAYOUT;

static int create_files(struct db *db, const struct db_options *options,
                        struct tidings_error *error) {
  int code = datafile_create(db, options, error);
  if (!code && db->shared.sole_user) code = datafile_prepare_lock(db, error);
  return code;
}

/* As sole user: checks data.mdb before LMDB opens it. */
static int check_first(struct db *db, store_deadline deadline, struct tidings_error *error) {
  int fd = -1;
  int code = datafile_open(db, &fd, error);
  if (code) return code;
  code = recover_first(db, fd, error);
  if (!code) code = walk_first(db, fd, deadline, error);
  close(fd);
  return code;
}

/* The caller holds the gate, before and after. */
static int open_files(struct db *db, const struct db_options *options,
                      struct tidings_error *error) {
  store_deadline deadline = store_deadline_in(options->budget_ms);
  int code = shared_open(db, deadline, error);
  if (code) return code;
  waiters_enter(db);
  code = create_files(db, options, error);
  if (!code && db->shared.sole_user) {
    code = check_first(db, deadline, error);
    if (!code) code = env_open_checked(db, deadline, error);
  } else if (!code) {
    code = datafile_check_lock(db, error);
    if (!code) code = env_open(db, deadline, error);
  }
  if (code) shared_close(db);
  return code;
}

static void free_db(struct db *db) {
  waiters_leave(db);
  env_free(db);
  pthread_mutex_destroy(&db->group.lock);
  free(db);
}

int db_open(const struct db_options *options, struct db **ret_db, struct tidings_error *error) {
  if (store_url_is(options->place)) /* the URL is not shown, because it may have a password */
    return fail(error, TIDINGS_E_UNSUPPORTED,
                "this plugin keeps stores in folders; for a store in a database load "
                "tidings-postgres.so");
  struct db *db = calloc(1, sizeof *db);
  if (!db) return fail(error, TIDINGS_E_NOMEM, "no memory to open store %s", options->place);
  db->log = (struct db_log_to){options->log, options->log_context};
  (void)pthread_mutex_init(&db->group.lock, NULL);
  waiters_init(db);
  int code = env_init(db, options->place, error);
  if (!code) code = open_files(db, options, error);
  if (code) {
    free_db(db);
    return code;
  }
  *ret_db = db;
  return 0;
}

/* The host's log is called only now: no process waits for us any more. */
void db_admit(struct db *db) {
  db->admitted = true;
  shared_admit(db);
  if (db->given_up)
    db_log(db, TIDINGS_LOG_WARNING,
           "store: a power cut or a crash of the machine cut off the last commit (transaction "
           "%llu); the one before it is the newest now, and nothing that was acknowledged is lost",
           (unsigned long long)db->given_up);
}

bool db_is_alone(const struct db *db) { return db->shared.sole_user; }

void db_note_clean(struct db *db) {
  if (!db->admitted) return;
  recover_note_clean(db);
  walk_note_clean(db);
}

void db_close(struct db *db) {
  db_note_clean(db);
  env_close(db);
  shared_close(db);
  free_db(db);
}

const char *db_place(const struct db *db) { return db->directory; }
const struct owner *db_self(const struct db *db) { return &db->self; }

bool db_owner_alive(struct db *db, const struct owner *owner) {
  (void)db; /* all users of a folder are on this machine */
  return owner_alive(owner);
}
