/* SPDX-License-Identifier: MIT
 *
 * store/db/db.h: transactions over keys, and what the processes that use a store share: the writer
 * lock, the change counters, the counters of the rings, the waiters. A key is 13 bytes, a value any
 * bytes; what they mean is the business of the folders above.
 *
 * The engine is LMDB. Only this folder knows that.
 */
#ifndef STORE_DB_DB_H
#define STORE_DB_DB_H

#include <pthread.h>

#include "common/span.h"
#include "store/db/deadline.h"
#include "store/db/owner.h"
#include "store/db/shared.h"

struct MDB_env;
struct MDB_txn;
struct MDB_cursor;

enum { DB_KEY_BYTES = 13, DB_PARKED_READERS = 4 };

struct db_key {
  uint8_t bytes[DB_KEY_BYTES];
};

struct db {
  struct owner self; /* this process */
  char *directory;
  int directory_fd;
  void (*log)(void *context, uint32_t severity, const char *text);
  void *log_context;

  struct shared shared;

  pthread_rwlock_t env_lock; /* read: while a transaction runs. Written: to close and open the
                                environment again after a failed commit */
  struct MDB_env *env;       /* NULL: it could not be opened again yet */
  unsigned tree;
  int data_fd;
  uint64_t page_bytes;
  uint64_t reserved_bytes; /* how much of data.mdb surely has blocks; only under the writer lock */
  uint32_t commits;        /* under the writer lock */

  pthread_mutex_t parked_lock;
  struct MDB_txn *parked[DB_PARKED_READERS]; /* reset read transactions, to be renewed */
  size_t parked_count;
};

/* -- opening: env.c ---------------------------------------------------------------------------- */

/* Takes the directory's path (made if need be) and says which process this is. After an error too,
 * db_free has to be called. */
int db_init(struct db *db, const char *directory, struct tidings_error *error);
void db_free(struct db *db);
/* The caller holds env_lock for writing, or no other thread knows the store yet. Errors: BUSY,
 * STORE, NOMEM. */
int db_open(struct db *db, store_deadline deadline, struct tidings_error *error);
void db_close(struct db *db);

void db_log(const struct db *db, uint32_t severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The functions below that return a plain int return 0 or the engine's error number. This makes a
 * sentence of it, "the store failed to <what>: <reason>", and returns NOMEM for ENOMEM, BUSY for
 * ETIMEDOUT, else STORE. */
int db_failed(struct tidings_error *error, int rc, const char *what);

/* -- transactions: txn.c ----------------------------------------------------------------------- */

struct db_txn {
  struct db *db;
  struct MDB_txn *engine;
  store_deadline deadline; /* of a write */
};

/* A snapshot. Errors: BUSY, STORE, NOMEM. */
int db_read(struct db *db, store_deadline deadline, struct db_txn *ret_txn,
            struct tidings_error *error);
void db_read_end(struct db_txn *txn);
/* A snapshot beside an open transaction of the same thread. 0, or the engine's error. */
int db_snapshot(struct db *db, store_deadline deadline, struct db_txn *ret_txn);
void db_snapshot_end(struct db_txn *txn);

/* STORE: the file was deleted while it was in use. Every db_write looks as well. */
int db_check_linked(struct db *db, struct tidings_error *error);

/* With the writer lock held, which stays held. Errors: BUSY, STORE, NOMEM. */
int db_write(struct db *db, store_deadline deadline, struct db_txn *ret_txn,
             struct tidings_error *error);
void db_abort(struct db_txn *txn);
/* Durable when it returns 0. Any error: nothing was written, unless the text says "outcome
 * unknown". *ret_trouble: what the engine said; NULL: it committed at once. The writer lock is
 * still held. */
int db_commit(struct db_txn *txn, const char **ret_trouble, struct tidings_error *error);

/* -- rows: tree.c. 0, or the engine's error ---------------------------------------------------- */

/* The value stays where it is until the transaction ends or writes. Its ptr is NULL if there is no
 * such row. */
int db_get(struct db_txn *txn, const struct db_key *key, struct tidings_span *ret_value);
int db_put(struct db_txn *txn, const struct db_key *key, struct tidings_span value);
/* Room for a value, to be filled before anything else is done with the transaction. */
int db_put_room(struct db_txn *txn, const struct db_key *key, size_t len, void **ret_value);
/* It is no error if there is no such row. */
int db_delete(struct db_txn *txn, const struct db_key *key);

/* The row that it stands at. */
struct db_cursor {
  struct MDB_cursor *engine;
  const uint8_t *key; /* DB_KEY_BYTES; NULL: it ran over the end */
  struct tidings_span value;
};
int db_cursor_open(struct db_txn *txn, struct db_cursor *ret_cursor);
void db_cursor_close(struct db_cursor *cursor);
/* To the row of this key, or the next one after it. */
int db_cursor_seek(struct db_cursor *cursor, const struct db_key *key);
/* To the last row before this key. */
int db_cursor_before(struct db_cursor *cursor, const struct db_key *key);
int db_cursor_next(struct db_cursor *cursor);
/* Deletes the row; the next db_cursor_next moves to the one after it. */
int db_cursor_delete(struct db_cursor *cursor);

#endif
