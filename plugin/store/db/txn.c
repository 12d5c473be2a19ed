/* SPDX-License-Identifier: MIT
 *
 * store/db/txn.c: transactions: snapshots from a few parked readers, the one writer behind the
 * lock, and what to believe when a commit fails.
 */
#include <errno.h>
#include <stdlib.h>

#include "store/internal.h"
#include "store/rows/record.h"

enum { READER_CHECK_EVERY = 256 };

/* -- the environment may be closed and opened again behind env_lock ---------------------------- */

/* Returns with env_lock held for reading and the environment open. */
static int enter_env(struct store *store, struct tidings_error *error) {
  for (;;) {
    pthread_rwlock_rdlock(&store->env_lock);
    if (store->env) return 0;
    pthread_rwlock_unlock(&store->env_lock);
    pthread_rwlock_wrlock(&store->env_lock);
    int code = store->env ? 0 : env_open(store, error);
    pthread_rwlock_unlock(&store->env_lock);
    if (code) return code;
  }
}

static void leave_env(struct store *store) { pthread_rwlock_unlock(&store->env_lock); }

/* -- rows -------------------------------------------------------------------------------------- */

int row_get(struct store_txn *txn, const struct row_key *key, MDB_val *ret_value) {
  struct row_key copy = *key;
  MDB_val k = {KEY_BYTES, copy.bytes};
  return mdb_get(txn->txn, txn->store->tree, &k, ret_value);
}

int row_put(struct store_txn *txn, const struct row_key *key, struct buffer *body,
            struct tidings_error *error) {
  struct row_key copy = *key;
  record_end(body, key);
  if (body->failed) return fail(error, TIDINGS_E_NOMEM, "no memory for a record of the store");
  MDB_val k = {KEY_BYTES, copy.bytes}, v = {body->len, body->bytes};
  int rc = mdb_put(txn->txn, txn->store->tree, &k, &v, 0);
  return rc ? lmdb_failed(error, rc, "write a record") : 0;
}

int row_damaged(struct tidings_error *error, const char *what, uint32_t session, uint64_t n) {
  return fail(error, TIDINGS_E_STORE,
              "the store's record of %s %llu of session number %u is damaged; restore the store "
              "from a backup or close the session",
              what, (unsigned long long)n, session);
}

/* The store may have been migrated by a newer build while this one had it open. */
static int check_schema(struct store_txn *txn, struct tidings_error *error) {
  struct row_key key = row_key(0, ROW_META, 0);
  struct record_reader reader;
  MDB_val value;
  int rc = row_get(txn, &key, &value);
  if (rc == MDB_NOTFOUND)
    return fail(error, TIDINGS_E_STORE, "store %s has no schema number: it was not made by tidings",
                txn->store->directory);
  if (rc) return lmdb_failed(error, rc, "read its schema number");
  if (record_format(&key, value.mv_data, value.mv_size) > RECORD_FORMAT) {
    return fail(
        error, TIDINGS_E_SCHEMA_NEWER,
        "store %s has records of a newer format; use a newer tidings. The store was left as it is",
        txn->store->directory);
  }
  bool intact = record_open(&reader, &key, value.mv_data, value.mv_size);
  uint64_t schema = intact ? record_read_u64(&reader) : 0;
  if (!intact || reader.bad)
    return fail(error, TIDINGS_E_STORE,
                "store %s: the record of its schema number is damaged; restore it from a backup",
                txn->store->directory);
  if (schema > STORE_SCHEMA) {
    return fail(error, TIDINGS_E_SCHEMA_NEWER,
                "store %s has schema %llu, this build knows up to %d; use a newer tidings. The "
                "store was left as it is",
                txn->store->directory, (unsigned long long)schema, STORE_SCHEMA);
  }
  if (schema < STORE_SCHEMA) {
    return fail(error, TIDINGS_E_STORE,
                "store %s has schema %llu, this build knows %d; use the tidings that made it, or "
                "another store. The store was left as it is",
                txn->store->directory, (unsigned long long)schema, STORE_SCHEMA);
  }
  return 0;
}

/* -- snapshots --------------------------------------------------------------------------------- */

static int snapshot(struct store *store, MDB_txn **ret_txn) {
  MDB_txn *txn = NULL;
  pthread_mutex_lock(&store->parked_lock);
  if (store->parked_count) txn = store->parked[--store->parked_count];
  pthread_mutex_unlock(&store->parked_lock);
  if (!txn) return mdb_txn_begin(store->env, NULL, MDB_RDONLY, ret_txn);
  int rc = mdb_txn_renew(txn);
  if (rc) mdb_txn_abort(txn);
  else *ret_txn = txn;
  return rc;
}

static void park(struct store *store, MDB_txn *txn) {
  mdb_txn_reset(txn); /* or it would pin every page that is freed from now on */
  pthread_mutex_lock(&store->parked_lock);
  if (store->parked_count < PARKED_READERS) {
    store->parked[store->parked_count++] = txn;
    txn = NULL;
  }
  pthread_mutex_unlock(&store->parked_lock);
  if (txn) mdb_txn_abort(txn);
}

int snapshot_begin(struct store *store, struct store_txn *ret_txn) {
  *ret_txn = (struct store_txn){.store = store};
  return snapshot(store, &ret_txn->txn);
}

void snapshot_end(struct store_txn *txn) { park(txn->store, txn->txn); }

int store_read(struct store *store, struct store_txn **ret_txn, struct tidings_error *error) {
  int code = enter_env(store, error);
  if (code) return code;
  struct store_txn *txn = calloc(1, sizeof *txn);
  int rc = txn ? snapshot(store, &txn->txn) : ENOMEM;
  if (rc) {
    leave_env(store);
    free(txn);
    return lmdb_failed(error, rc, "begin reading");
  }
  txn->store = store;
  code = check_schema(txn, error);
  if (code) {
    store_end(txn);
    return code;
  }
  *ret_txn = txn;
  return 0;
}

/* -- the writer -------------------------------------------------------------------------------- */

static int begin_write(struct store *store, struct store_txn *txn, struct tidings_error *error) {
  int dead;
  if (++store->commits % READER_CHECK_EVERY == 0) (void)mdb_reader_check(store->env, &dead);
  int rc = mdb_txn_begin(store->env, NULL, 0, &txn->txn);
  if (rc) return lmdb_failed(error, rc, "begin writing");
  int code = check_schema(txn, error);
  if (code) mdb_txn_abort(txn->txn);
  return code;
}

int write_locked(struct store *store, struct store_txn **ret_txn, struct tidings_error *error) {
  int code;
  struct store_txn *txn = calloc(1, sizeof *txn);
  if (!txn) {
    code = fail(error, TIDINGS_E_NOMEM, "no memory to write to the store");
    goto no_memory;
  }
  txn->store = store;
  txn->writing = true;
  code = enter_env(store, error);
  if (code) goto no_env;
  code = begin_write(store, txn, error);
  if (code) goto no_txn;
  *ret_txn = txn;
  return 0;
no_txn:
  leave_env(store);
no_env:
  free(txn);
no_memory:
  writer_unlock(store);
  return code;
}

int store_write(struct store *store, store_deadline deadline, struct store_txn **ret_txn,
                struct tidings_error *error) {
  int code = writer_lock(store, deadline, error);
  return code ? code : write_locked(store, ret_txn, error);
}

void store_end(struct store_txn *txn) {
  if (!txn) return;
  if (txn->writing) mdb_txn_abort(txn->txn);
  else park(txn->store, txn->txn);
  leave_env(txn->store);
  if (txn->writing) writer_unlock(txn->store);
  free(txn);
}

int txn_touch(struct store_txn *txn, uint32_t session) {
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (txn->touched[i] == session) return 0;
  }
  if (txn->touched_count == TOUCHED_SESSIONS) return -1;
  txn->touched[txn->touched_count++] = session;
  return 0;
}

/* -- a commit that failed ---------------------------------------------------------------------- */

/* Writes the schema row again: a commit that changes nothing. When it succeeds, everything before
 * it is durable too. */
static int commit_nothing(struct store *store) {
  struct row_key key = row_key(0, ROW_META, 0);
  struct buffer copy = BUFFER_EMPTY;
  MDB_val k = {KEY_BYTES, key.bytes}, value;
  MDB_txn *txn;
  int rc = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (rc) return rc;
  rc = mdb_get(txn, store->tree, &k, &value);
  if (!rc) buffer_append(&copy, value.mv_data, value.mv_size);
  if (!rc && copy.failed) rc = ENOMEM;
  value.mv_data = copy.bytes;
  if (!rc) rc = mdb_put(txn, store->tree, &k, &value, 0);
  if (rc) mdb_txn_abort(txn);
  else rc = mdb_txn_commit(txn);
  buffer_free(&copy);
  return rc;
}

/* Is what transaction `id` wrote in the file, and if so, durable? Returns 0 with the answer, or why
 * it cannot be told. */
static int find_out(struct store *store, size_t id, bool *ret_stored) {
  MDB_txn *txn;
  int rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
  if (rc) return rc;
  bool stored = mdb_txn_id(txn) >= id;
  mdb_txn_abort(txn);
  if (stored) rc = commit_nothing(store);
  if (!rc) *ret_stored = stored;
  return rc;
}

/* LMDB cannot say whether a failed commit is on disk, and may refuse all further work. Nobody else
 * has written since, because the writer lock is still ours: so after opening again, the number of
 * the newest transaction tells. */
static int after_failed_commit(struct store *store, size_t id, int rc,
                               struct tidings_error *error) {
  const char *reason = mdb_strerror(rc);
  bool stored = false;
  int code = 0;
  pthread_rwlock_wrlock(&store->env_lock);
  env_close(store);
  if (env_open(store, NULL)) {
    code = fail(error, TIDINGS_E_STORE,
                "the store failed to commit (%s) and cannot be opened again: outcome unknown; "
                "retry with the same id",
                reason);
  } else if (find_out(store, id, &stored)) {
    env_close(store); /* it refuses all further work; the next call opens it again */
    code = fail(error, TIDINGS_E_STORE,
                "the store failed to commit (%s): outcome unknown; retry with the same id", reason);
  } else if (!stored) {
    code = lmdb_failed(error, rc, "commit; nothing was stored");
  }
  pthread_rwlock_unlock(&store->env_lock);
  return code;
}

int store_commit(struct store_txn *txn, struct tidings_error *error) {
  struct store *store = txn->store;
  size_t id = mdb_txn_id(txn->txn);
  int code = 0;
  bells_begin(store, txn->touched, txn->touched_count);
  if (txn->ringing) rings_begin(txn);
  int rc = mdb_txn_commit(txn->txn);
  leave_env(store);
  if (rc) code = after_failed_commit(store, id, rc, error);
  bells_end(store, txn->touched, txn->touched_count);
  if (txn->ringing) rings_end(txn);
  writer_unlock(store);
  if (txn->ringing) waiters_call(store, txn);
  if (rc) { /* the host is told when nobody waits for us any more */
    store_log(store, code ? TIDINGS_LOG_ERROR : TIDINGS_LOG_WARNING,
              "store: a commit failed: %s; %s", mdb_strerror(rc),
              code ? "it was refused" : "it was stored after all");
  }
  free(txn);
  return code;
}
