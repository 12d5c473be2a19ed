/* SPDX-License-Identifier: MIT
 *
 * store/open/open.c: opening and closing a store.
 */
#include <stdlib.h>

#include "store/db/files.h"
#include "store/forget/sweep.h"
#include "store/rows/rows.h"
#include "store/wake/ring.h"

static int create_files(struct db *db, struct tidings_error *error) {
  struct buffer row = BUFFER_EMPTY;
  struct db_key key = meta_first(&row);
  int code = row.failed
                 ? fail(error, TIDINGS_E_NOMEM, "store %s: no memory to create it", db->directory)
                 : datafile_create(db, &key, buffer_view(&row), error);
  buffer_free(&row);
  if (!code && db->shared.sole_user) code = datafile_prepare_lock(db, error);
  return code;
}

/* A snapshot begins with a look at the schema. */
static int check_schema(struct store *store, store_deadline deadline, struct tidings_error *error) {
  struct store_txn *txn;
  int code = store_read(store, deadline, &txn, error);
  if (code) return code;
  store_end(txn);
  return 0;
}

/* All of it with the gate held. */
static int open_files(struct store *store, const struct store_options *options,
                      struct tidings_error *error) {
  struct db *db = &store->db;
  store_deadline deadline = store_deadline_in(options->create_budget_ms);
  int code = shared_open(db, deadline, error);
  if (code) return code;
  waiters_enter(store);
  code = create_files(db, error);
  if (!code && db->shared.sole_user) code = walk_first(db, deadline, error);
  if (!code) code = db_open(db, deadline, error);
  if (!code) code = check_schema(store, deadline, error);
  if (code) {
    db_close(db);
    shared_close(db);
    return code;
  }
  if (db->shared.sole_user && !options->only_reads) purge_run(store, options->now_ms, deadline);
  shared_admit(db);
  return 0;
}

static void free_store(struct store *store) {
  db_free(&store->db);
  pthread_mutex_destroy(&store->group.lock);
  free(store);
}

int store_open(const struct store_options *options, struct store **ret_store,
               struct tidings_error *error) {
  struct store *store = calloc(1, sizeof *store);
  if (!store) return fail(error, TIDINGS_E_NOMEM, "no memory to open store %s", options->directory);
  store->db.log = options->log;
  store->db.log_context = options->log_context;
  (void)pthread_mutex_init(&store->group.lock, NULL);
  waiters_init(store);
  int code = db_init(&store->db, options->directory, error);
  if (!code) code = open_files(store, options, error);
  if (code) {
    waiters_leave(store);
    free_store(store);
    return code;
  }
  *ret_store = store;
  return 0;
}

void store_close(struct store *store) {
  if (!store) return;
  walk_note_clean(&store->db);
  db_close(&store->db);
  waiters_leave(store);
  shared_close(&store->db);
  free_store(store);
}

const struct owner *store_self(const struct store *store) { return &store->db.self; }
