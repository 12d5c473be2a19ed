/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/env.c: opens and closes the LMDB environment, and words LMDB's errors.
 */
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"

enum { CLOSE_WAIT_MS = 20 };

int64_t db_now(const struct db *db, int64_t host_ms) {
  (void)db; /* all of the store's hosts are on one machine */
  return host_ms;
}

int db_failed(struct tidings_error *error, int rc, const char *what) {
  if (rc == ENOMEM) return fail(error, TIDINGS_E_NOMEM, "the store had no memory to %s", what);
  if (rc == ETIMEDOUT)
    return fail(error, TIDINGS_E_BUSY,
                "the store could not %s: another process that opens it or begins to read it has "
                "not finished (is one stopped?); nothing was lost, try again",
                what);
  return fail(error, TIDINGS_E_STORE, "the store failed to %s: %s", what, mdb_strerror(rc));
}

static int open_tree(struct db *db) {
  MDB_txn *txn;
  int rc = mdb_txn_begin(db->env, NULL, MDB_RDONLY, &txn);
  if (rc) return rc;
  rc = mdb_dbi_open(txn, NULL, 0, &db->tree);
  if (rc) mdb_txn_abort(txn);
  else rc = mdb_txn_commit(txn);
  return rc;
}

/* The caller has the readers' lock. */
static int open_environment(struct db *db) {
  char path[64];
  int dead = 0;
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", db->directory_fd);
  int rc = mdb_env_create(&db->env);
  if (rc) {
    db->env = NULL;
    return rc;
  }
  rc = mdb_env_set_maxreaders(db->env, STORE_MAX_READERS);
  /* Sets no map size: LMDB takes the size that the file states, which never changes. */
  if (!rc) rc = mdb_env_open(db->env, path, MDB_NOTLS | MDB_NORDAHEAD, 0600);
  if (!rc) rc = mdb_env_get_fd(db->env, &db->data_fd);
  if (!rc && fcntl(db->data_fd, F_SETFD, FD_CLOEXEC)) rc = errno;
  if (!rc) rc = mdb_reader_check(db->env, &dead);
  if (!rc) rc = open_tree(db);
  if (!rc) return 0;
  mdb_env_close(db->env);
  db->env = NULL;
  return rc;
}

int env_open(struct db *db, store_deadline deadline, struct tidings_error *error) {
  int code = datafile_check(db, error);
  return code ? code : env_open_checked(db, deadline, error);
}

int env_open_checked(struct db *db, store_deadline deadline, struct tidings_error *error) {
  int rc = readers_lock(db, deadline);
  if (!rc) {
    rc = open_environment(db);
    readers_unlock(db);
  }
  db->reserved_bytes = 0;
  if (!rc) return 0;
  if (rc == ETIMEDOUT) return db_failed(error, rc, "be opened");
  if (rc == ENOMEM)
    return fail(error, TIDINGS_E_NOMEM, "store %s: no memory (or address space) to open it",
                db->directory);
  if (rc == EACCES || rc == EROFS)
    return directory_file_refused(db->directory, "lock.mdb", rc, error);
  return fail(error, TIDINGS_E_STORE, "store %s cannot be opened: %s", db->directory,
              mdb_strerror(rc));
}

/* The environment is closed even if the lock cannot be had. That matters only if this is the last
 * user and the process that has the lock is just opening the store. */
void env_close(struct db *db) {
  while (db->parked_count) mdb_txn_abort(db->parked[--db->parked_count]);
  if (!db->env) return;
  bool locked = !readers_lock(db, store_deadline_in(CLOSE_WAIT_MS));
  mdb_env_close(db->env);
  db->env = NULL;
  if (locked) readers_unlock(db);
}

int env_init(struct db *db, const char *directory, struct tidings_error *error) {
  char reason[OWNER_REASON_BYTES];
  db->directory_fd = -1;
  (void)pthread_rwlock_init(&db->env_lock, NULL);
  (void)pthread_mutex_init(&db->parked_lock, NULL);
  db->directory = strdup(directory);
  if (!db->directory) return fail(error, TIDINGS_E_NOMEM, "no memory to open store %s", directory);
  /* A name that ends with a slash would follow a symbolic link. */
  for (size_t len = strlen(db->directory); len > 1 && db->directory[len - 1] == '/'; len--)
    db->directory[len - 1] = '\0';
  if (owner_of_process(0, &db->self)) {
    owner_reason((uint32_t)getpid(), reason);
    return fail(error, TIDINGS_E_STORE, "store %s: this process cannot be identified: %s",
                db->directory, reason);
  }
  if (!owner_proc_is_ours())
    return fail(
        error, TIDINGS_E_STORE,
        "store %s: /proc is that of another PID namespace (a container?), so processes cannot "
        "be told apart; mount a /proc of this one",
        db->directory);
  return directory_open(db->directory, &db->directory_fd, error);
}

void env_free(struct db *db) {
  if (db->directory_fd >= 0) close(db->directory_fd);
  pthread_rwlock_destroy(&db->env_lock);
  pthread_mutex_destroy(&db->parked_lock);
  free(db->directory);
}
