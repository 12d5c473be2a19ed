/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/engine.h: the engine of a store in a folder. LMDB keeps the rows; a file that all
 * processes map has what they share. Only this folder, store/maintenance/ and tests use this
 * header.
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
  bool admitted;     /* the store was found good */
  uint64_t given_up; /* the transaction of a commit that was cut off; 0: none was */

  struct shared shared;

  pthread_rwlock_t env_lock; /* held for reading while a transaction runs, and for writing to close
                              * and reopen the environment after a failed commit */
  struct MDB_env *env;       /* NULL: it could not be reopened yet */
  unsigned tree;
  int data_fd;
  uint64_t page_bytes;
  uint64_t reserved_bytes;    /* how much of data.mdb surely has blocks; under the writer lock */
  bool disk_is_full;          /* at the last try to reserve blocks; under the writer lock */
  uint32_t commits;           /* under the writer lock */
  _Atomic uint64_t committed; /* LMDB's number of the last commit of this process; 0: it failed */
  _Atomic uint64_t failed;    /* how many commits of this process have failed */

  pthread_mutex_t parked_lock;
  struct MDB_txn *parked[DB_PARKED_READERS]; /* reset read transactions, to be renewed */
  size_t parked_count;

  struct { /* waiters.c, rings.c */
    pthread_mutex_t lines_lock;
    struct waiter_line *lines; /* one for each waiter's slot; NULL: no waiter was called yet */
    int fifo;                  /* this process's FIFO; -1: this process does not wait */
    _Atomic uintptr_t waiting_thread; /* the pthread_t that waits; 0: no thread has asked */
    _Atomic(struct rings *) rings;    /* NULL: this process has never looked for rings */
  } wake;

  struct { /* group.c */
    pthread_mutex_t lock;
    struct db_push *first, *last; /* pushes that wait */
    bool led;
  } group;
};

/* -- the environment: env.c -------------------------------------------------------------------- */

/* Sets db's directory, which is made if need be, and which process this is. env_free has to be
 * called after an error too. */
int env_init(struct db *db, const char *directory, struct tidings_error *error);
void env_free(struct db *db);
/* The caller holds env_lock for writing, or no other thread knows the store yet. Errors: BUSY,
 * STORE, NOMEM. */
int env_open(struct db *db, store_deadline deadline, struct tidings_error *error);
/* The same for a file that datafile_check has accepted and that nobody has changed since. */
int env_open_checked(struct db *db, store_deadline deadline, struct tidings_error *error);
void env_close(struct db *db);

/* -- transactions: txn.c ----------------------------------------------------------------------- */

/* Errors: STORE (the file was deleted while it was in use). Every write checks this as well. */
int env_check_linked(struct db *db, struct tidings_error *error);

/* With the writer lock held: counts the pages that the next write may take if no reader keeps them.
 * Returns 0 or an errno. */
int env_free_pages(struct db *db, uint64_t *ret_pages);

/* Begins a write. The caller holds the writer lock, and still holds it afterwards. Errors: BUSY,
 * STORE, NOMEM. */
int env_write(struct db *db, store_deadline deadline, struct db_txn *ret_txn,
              struct tidings_error *error);

#endif
