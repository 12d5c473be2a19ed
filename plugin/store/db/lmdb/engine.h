/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/engine.h: the engine of a store in a folder: LMDB for the rows, a file that all
 * processes map for what they share. Only this folder, store/maintenance/ and tests know it.
 */
#ifndef STORE_DB_LMDB_ENGINE_H
#define STORE_DB_LMDB_ENGINE_H

#include <pthread.h>

#include "store/db/db.h"
#include "store/db/lmdb/shared.h"

struct MDB_env;
struct MDB_txn;

struct waiter_line;
struct rings;

enum { DB_PARKED_READERS = 4, STORE_MAX_READERS = 1024 };

struct db {
  struct db_log_to log; /* first: see db.h */
  struct owner self;    /* this process */
  char *directory;
  int directory_fd;
  bool admitted;     /* it was found good */
  uint64_t given_up; /* the transaction of a commit that was cut; 0: none was */

  struct shared shared;

  pthread_rwlock_t env_lock; /* read: while a transaction runs. Written: to close and open the
                                environment again after a failed commit */
  struct MDB_env *env;       /* NULL: it could not be opened again yet */
  unsigned tree;
  int data_fd;
  uint64_t page_bytes;
  uint64_t reserved_bytes; /* how much of data.mdb surely has blocks; only under the writer lock */
  bool disk_is_full;       /* when that was tried last; under the writer lock */
  uint32_t commits;        /* under the writer lock */
  _Atomic uint64_t committed; /* LMDB's number of this process's last commit; 0: it failed */
  _Atomic uint64_t failed;    /* how many of its commits have */

  pthread_mutex_t parked_lock;
  struct MDB_txn *parked[DB_PARKED_READERS]; /* reset read transactions, to be renewed */
  size_t parked_count;

  struct { /* waiters.c, rings.c */
    pthread_mutex_t lines_lock;
    struct waiter_line *lines;        /* by the waiter's slot; NULL: none was called yet */
    int fifo;                         /* this process's own; -1: it does not wait */
    _Atomic uintptr_t waiting_thread; /* the pthread_t that waits; 0: none has asked yet */
    _Atomic(struct rings *) rings;    /* NULL: it has never looked */
  } wake;

  struct { /* group.c */
    pthread_mutex_t lock;
    struct db_push *first, *last; /* those that wait */
    bool led;
  } group;
};

/* -- the environment: env.c -------------------------------------------------------------------- */

/* Takes the directory's path (made if need be) and says which process this is. After an error too,
 * env_free has to be called. */
int env_init(struct db *db, const char *directory, struct tidings_error *error);
void env_free(struct db *db);
/* The caller holds env_lock for writing, or no other thread knows the store yet. Errors: BUSY,
 * STORE, NOMEM. */
int env_open(struct db *db, store_deadline deadline, struct tidings_error *error);
/* The same, after datafile_check, of a file that nobody has touched since. */
int env_open_checked(struct db *db, store_deadline deadline, struct tidings_error *error);
void env_close(struct db *db);

/* -- transactions: txn.c ----------------------------------------------------------------------- */

/* STORE: the file was deleted while it was in use. Every write looks as well. */
int env_check_linked(struct db *db, struct tidings_error *error);

/* With the writer lock held: how many pages the next write may take, if no reader keeps them.
 * Returns 0 or an errno. */
int env_free_pages(struct db *db, uint64_t *ret_pages);

/* With the writer lock held, which stays held. Errors: BUSY, STORE, NOMEM. */
int env_write(struct db *db, store_deadline deadline, struct db_txn *ret_txn,
              struct tidings_error *error);

#endif
