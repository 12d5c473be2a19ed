/* SPDX-License-Identifier: MIT
 *
 * store/internal.h: what the files of the store share. Not for anybody outside this folder.
 */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include <lmdb.h>
#include <pthread.h>
#include <tidings/host.h>

#include "common/error.h"
#include "store/rows/keys.h"
#include "store/store.h"
#include "store/wake/wake.h"

/* The store's own file beside LMDB's two, mapped by every user: who is here, the writer lock, the
 * bells, the rings, the waiters. */
enum { BELLS = 4096 };
struct shared_page {
  char magic[8];
  uint32_t layout;      /* of this struct */
  uint32_t mutex_bytes; /* sizeof(pthread_mutex_t) of whoever made it: a 32-bit process must not use
                           a 64-bit mutex */
  uint64_t pid_namespace;       /* of all present users */
  pthread_mutex_t writer;       /* robust, process-shared */
  _Atomic uint32_t waiters_end; /* slots of waiters from here on have never been used */
};

/* A process that sleeps at a FIFO of its own in the store's folder, for the sessions of an owner:
 * itself, or the agent that it helps. Written behind the gate only, and never while its process
 * lives but by that process; read by whoever rings, without a lock. Boot and PID namespace are
 * those of all users. */
enum waiter_state { WAITER_NONE = 0, WAITER_COMING = 1, WAITER_READY = 2 };
struct wait_slot {
  _Atomic uint32_t state; /* enum waiter_state */
  _Atomic uint32_t pid, owner_pid;
  _Atomic uint64_t start_time, owner_start_time;
  _Atomic uint64_t inode; /* of the FIFO */
};
enum {
  SHARED_BELLS_OFFSET = 4096,
  SHARED_RINGS_OFFSET = SHARED_BELLS_OFFSET + BELLS * 4,
  SHARED_GROUPS_OFFSET = SHARED_RINGS_OFFSET + STORE_RINGS * 4,
  SHARED_WAITERS_OFFSET = SHARED_GROUPS_OFFSET + RING_GROUPS * 4,
  SHARED_BYTES = SHARED_WAITERS_OFFSET + STORE_WAITERS * (int)sizeof(struct wait_slot)
};

struct shared {
  int fd;
  struct shared_page *page;
  _Atomic uint32_t *bells;
  _Atomic uint32_t *rings, *ring_groups;
  struct wait_slot *waiters;
  bool sole_user; /* when it was opened */
};

enum { PARKED_READERS = 4, TOUCHED_SESSIONS = 64, CALLED_OWNERS = 4 };

struct push_slot;

/* A descriptor of a waiter's FIFO that this process has written to. */
struct line {
  uint64_t inode; /* 0: none */
  int fd;
};

struct store {
  struct owner self; /* this process */
  char *directory;
  int directory_fd;
  void (*log)(void *context, uint32_t severity, const char *text);
  void *log_context;

  struct shared shared;

  pthread_rwlock_t env_lock; /* read: while a transaction runs. Written: to close and open the
                                environment again after a failed commit */
  MDB_env *env;              /* NULL: it could not be opened again yet */
  MDB_dbi tree;
  int data_fd;
  uint64_t page_bytes;
  uint64_t reserved_bytes; /* how much of data.mdb surely has blocks; only under the writer lock */
  uint32_t commits;        /* under the writer lock */

  pthread_mutex_t parked_lock;
  MDB_txn *parked[PARKED_READERS]; /* reset read transactions, to be renewed */
  size_t parked_count;

  pthread_mutex_t group_lock;
  struct push_slot *group_first, *group_last; /* pushes that wait */
  bool group_led;

  pthread_mutex_t lines_lock;
  struct line *lines; /* by the waiter's slot; NULL: nobody was called yet */

  int fifo;                         /* this process's own; -1: it does not wait */
  _Atomic uintptr_t waiting_thread; /* the pthread_t that waits; 0: none has asked yet */
  _Atomic(struct rings *) rings;    /* NULL: it has never looked */
};

struct store_txn {
  struct store *store;
  MDB_txn *txn;
  bool writing;
  uint32_t touched[TOUCHED_SESSIONS]; /* sessions whose bell rings on commit */
  size_t touched_count;

  uint64_t ringing;    /* a bit for each of `touched` whose owner is called as well */
  bool rung_by_others; /* than the thread that waits */
  struct {
    uint32_t pid;
    uint64_t start_time;
  } called[CALLED_OWNERS];
  size_t called_count; /* CALLED_OWNERS + 1: too many to note; every waiter is woken */
};

void store_log(const struct store *store, uint32_t severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* directory.c: makes it if need be, and refuses what is not safe. Returns a descriptor of the
 * directory. */
int directory_open(const char *path, int *ret_fd, struct tidings_error *error);
bool file_system_is_remote(uint64_t magic);

/* shared.c. The gate is held from shared_open to shared_admit: one process at a time opens a
 * store. */
int shared_open(struct store *store, uint32_t budget_ms, struct tidings_error *error);
void shared_admit(struct store *store);
void shared_close(struct store *store);
/* The writer lock, of all processes. 0 or BUSY, STORE. */
int writer_lock(struct store *store, store_deadline deadline, struct tidings_error *error);
void writer_unlock(struct store *store);
bool writer_try(struct store *store); /* at once or not at all */
void bells_begin(struct store *store, const uint32_t *sessions,
                 size_t count); /* odd, before the commit */
void bells_end(struct store *store, const uint32_t *sessions, size_t count); /* even, after it */
/* The gate by itself: what is behind it is done by one process at a time. Given back by
 * shared_admit. */
int shared_gate(struct store *store, uint32_t budget_ms, struct tidings_error *error);

/* rings.c: what store_commit does for sessions that ring. */
void rings_begin(struct store_txn *txn); /* odd, before the commit */
void rings_end(struct store_txn *txn);   /* even, after it, still under the writer lock */
/* store_ring on behalf of another thread. */
void ring_for(struct store_txn *txn, uint32_t session, const struct owner *owner, uintptr_t thread);

/* waiters.c */
void waiters_init(struct store *store);             /* before anything else */
void waiters_enter(struct store *store, bool anew); /* behind the gate: slots and FIFOs of the dead
                                                       go; `anew`: the slots mean nothing */
void waiters_call(struct store *store,
                  const struct store_txn *txn); /* a byte to each that waits for an owner called; no
                                                   lock of other processes is held */
void waiters_leave(struct store *store); /* the process's own FIFO and slot stay: it may only be
                                            changing its build */

/* datafile.c: before LMDB sees the files. */
int datafile_create(
    struct store *store,
    struct tidings_error *error); /* data.mdb aside, synced, renamed, if there is none */
int datafile_check(struct store *store,
                   struct tidings_error *error); /* regular, ours, not cut short */
int lockfile_prepare(struct store *store,
                     struct tidings_error *error); /* as sole user: lock.mdb with all its blocks */
struct stat;
bool has_holes(const struct stat *entry,
               off_t bytes); /* are its first `bytes` not all on the disk? */
/* Makes sure that a write of `bytes` leaves room for leases and settles on a full disk. Under the
 * writer lock. 0, or STORE. */
int datafile_reserve(struct store *store, uint64_t bytes, struct tidings_error *error);

/* env.c. The caller holds env_lock for writing, or nobody else knows the store yet. */
int env_open(struct store *store, struct tidings_error *error);
void env_close(struct store *store);

/* An LMDB error as a sentence: "the store failed to <what>: <reason>". MDB's ENOMEM is NOMEM,
 * everything else STORE. */
int lmdb_failed(struct tidings_error *error, int rc, const char *what);

/* store_write for a caller that has the writer lock already; it is given up with the transaction,
 * or at once on failure. */
int write_locked(struct store *store, struct store_txn **ret_txn, struct tidings_error *error);

/* A snapshot beside an open transaction of the same thread. 0, or an LMDB error. */
int snapshot_begin(struct store *store, struct store_txn *ret_txn);
void snapshot_end(struct store_txn *txn);

int txn_touch(struct store_txn *txn,
              uint32_t session); /* 0, or -1: too many sessions in one transaction */
/* One row. MDB_NOTFOUND is returned as it is, 0 found. */
int row_get(struct store_txn *txn, const struct row_key *key, MDB_val *ret_value);
/* Seals `body` (a record without its checksum) and puts it. */
struct buffer;
int row_put(struct store_txn *txn, const struct row_key *key, struct buffer *body,
            struct tidings_error *error);
int row_damaged(struct tidings_error *error, const char *what, uint32_t session, uint64_t n);

uint64_t monotonic_ns(void);

#endif
