/* SPDX-License-Identifier: MIT
 *
 * store/db/env.c: opening and closing the store and its LMDB environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/forget/sweep.h"

void store_log(const struct store *store, uint32_t severity, const char *format, ...) {
  char text[512];
  va_list args;
  if (!store->log) return;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  store->log(store->log_context, severity, text);
}

int lmdb_failed(struct tidings_error *error, int rc, const char *what) {
  if (rc == ENOMEM) return fail(error, TIDINGS_E_NOMEM, "the store had no memory to %s", what);
  return fail(error, TIDINGS_E_STORE, "the store failed to %s: %s", what, mdb_strerror(rc));
}

static int open_tree(struct store *store) {
  MDB_txn *txn;
  int rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
  if (rc) return rc;
  rc = mdb_dbi_open(txn, NULL, 0, &store->tree);
  if (rc) mdb_txn_abort(txn);
  else rc = mdb_txn_commit(txn);
  return rc;
}

int env_open(struct store *store, struct tidings_error *error) {
  char path[64];
  struct stat entry;
  int dead = 0;
  int code = datafile_check(store, error);
  if (code) return code;
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", store->directory_fd);
  int rc = mdb_env_create(&store->env);
  if (rc) {
    store->env = NULL;
    return lmdb_failed(error, rc, "be opened");
  }
  rc = mdb_env_set_maxreaders(store->env, STORE_MAX_READERS);
  /* No map size is set: LMDB takes the one in the file, which never changes. */
  if (!rc) rc = mdb_env_open(store->env, path, MDB_NOTLS | MDB_NORDAHEAD, 0600);
  if (!rc) rc = mdb_env_get_fd(store->env, &store->data_fd);
  if (!rc && fcntl(store->data_fd, F_SETFD, FD_CLOEXEC)) rc = errno;
  if (!rc) rc = mdb_reader_check(store->env, &dead);
  if (!rc) rc = open_tree(store);
  if (!rc && fstat(store->data_fd, &entry)) rc = errno;
  if (rc) {
    env_close(store);
    if (rc == ENOMEM)
      return fail(error, TIDINGS_E_NOMEM, "store %s: no memory (or address space) to open it",
                  store->directory);
    return fail(error, TIDINGS_E_STORE, "store %s cannot be opened: %s", store->directory,
                mdb_strerror(rc));
  }
  store->reserved_bytes = 0;
  return 0;
}

void env_close(struct store *store) {
  while (store->parked_count) mdb_txn_abort(store->parked[--store->parked_count]);
  if (store->env) mdb_env_close(store->env);
  store->env = NULL;
}

static int check_schema(struct store *store, struct tidings_error *error) {
  struct store_txn *txn;
  int code = store_read(store, &txn, error);
  if (code) return code;
  store_end(txn);
  return 0;
}

static int open_files(struct store *store, const struct store_options *options,
                      struct tidings_error *error) {
  int code = shared_open(store, options->create_budget_ms, error);
  if (code) return code;
  code = datafile_create(store, error);
  if (!code && store->shared.sole_user) code = lockfile_prepare(store, error);
  if (!code) code = env_open(store, error);
  if (!code) code = check_schema(store, error);
  if (code) {
    env_close(store);
    shared_close(store);
    return code;
  }
  if (store->shared.sole_user) sweep_alone(store, options->now_ms, options->create_budget_ms);
  shared_admit(store);
  return 0;
}

static void store_free(struct store *store) {
  if (store->directory_fd >= 0) close(store->directory_fd);
  pthread_rwlock_destroy(&store->env_lock);
  pthread_mutex_destroy(&store->parked_lock);
  pthread_mutex_destroy(&store->group_lock);
  pthread_mutex_destroy(&store->lines_lock);
  free(store->directory);
  free(store);
}

int store_open(const struct store_options *options, struct store **ret_store,
               struct tidings_error *error) {
  struct store *store = calloc(1, sizeof *store);
  if (!store) return fail(error, TIDINGS_E_NOMEM, "no memory to open store %s", options->directory);
  store->directory_fd = -1;
  store->log = options->log;
  store->log_context = options->log_context;
  (void)pthread_rwlock_init(&store->env_lock, NULL);
  (void)pthread_mutex_init(&store->parked_lock, NULL);
  (void)pthread_mutex_init(&store->group_lock, NULL);
  waiters_init(store);
  store->directory = strdup(options->directory);
  /* A name that ends with a slash would follow a symbolic link. */
  for (size_t len = store->directory ? strlen(store->directory) : 0;
       len > 1 && store->directory[len - 1] == '/'; len--)
    store->directory[len - 1] = '\0';
  int code = store->directory
                 ? 0
                 : fail(error, TIDINGS_E_NOMEM, "no memory to open store %s", options->directory);
  if (!code && owner_of_process(0, &store->self))
    code = fail(error, TIDINGS_E_STORE,
                "store %s: this process cannot be told from others: /proc must be mounted",
                store->directory);
  if (!code) code = directory_open(store->directory, &store->directory_fd, error);
  if (!code) code = open_files(store, options, error);
  if (code) {
    waiters_leave(store);
    store_free(store);
    return code;
  }
  *ret_store = store;
  return 0;
}

void store_close(struct store *store) {
  if (!store) return;
  env_close(store);
  waiters_leave(store);
  shared_close(store);
  store_free(store);
}

const char *store_directory(const struct store *store) { return store->directory; }

const struct owner *store_self(const struct store *store) { return &store->self; }
