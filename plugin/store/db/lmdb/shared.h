/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/shared.h: the file `shared`, which every process that uses a store has mapped.
 */
#ifndef STORE_DB_SHARED_H
#define STORE_DB_SHARED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <tidings/host.h>

#include "store/db/deadline.h"
#include "store/db/limits.h"
#include "store/db/places.h"

struct db;

/* Notes that a data.mdb was found sound, closed by LMDB, or found damaged: see walk_first.c. */
struct walk_note {
  uint8_t boot_id[16];
  uint64_t inode;
  int64_t modified_ns;
  _Atomic uint64_t transaction; /* the file's newest when noted; 0: nothing is noted */
  uint64_t page;
  char finding[64]; /* how that page is not sound; empty: the file is sound */
};
/* Notes up to which transaction data.mdb is surely on the disk: see recover.c. During the boot
 * `boot_id`, no transaction up to that one is ever given up. */
struct flush_note {
  uint8_t boot_id[16];
  uint64_t inode;
  _Atomic uint64_t transaction; /* the newest whose flush returned; 0: nothing is noted */
  _Atomic uint64_t marked;      /* the newest that the other head's page notes too */
  _Atomic uint32_t bare;        /* the heads have no digests yet */
};
/* The head of the file `shared`, which every user of the store maps beside LMDB's two files. The
 * change counters, the rings, the waiters, the phases and the calls follow it. */
struct shared_page {
  char magic[8];
  uint32_t layout;                 /* of this struct */
  uint32_t mutex_kind;             /* of all present users, as returned by libc_mutex_kind */
  uint64_t pid_namespace;          /* of all present users */
  pthread_mutex_t writer, readers; /* robust, process-shared: see locks.c */
  _Atomic uint32_t writer_died;    /* or a flush failed: the newest commit may not be on the disk */
  _Atomic uint32_t waiters_end;    /* slots of waiters from here on have never been used */
  _Atomic uint64_t lock_inode;     /* of the lock.mdb that all present users have open */
  struct walk_note walked;   /* written by the process that has the gate or closes the store */
  struct flush_note flushed; /* written by the sole user, or with the writer lock */
};

/* The slot of a process that waits at its own FIFO in the store's folder, for the sessions of an
 * owner: itself, or the agent that it helps. As long as that process lives, only it writes the
 * slot, and only with the gate held. Processes that ring read the slot without a lock. Boot and PID
 * namespace are the same for all users. */
enum waiter_state { WAITER_NONE = 0, WAITER_COMING = 1, WAITER_READY = 2 };
struct wait_slot {
  _Atomic uint32_t state; /* enum waiter_state */
  _Atomic uint32_t pid, owner_pid;
  _Atomic uint64_t start_time, owner_start_time;
  _Atomic uint64_t inode; /* of the FIFO */
};

enum {
  SHARED_CHANGES_OFFSET = 4096,
  SHARED_RINGS_OFFSET = SHARED_CHANGES_OFFSET + STORE_CHANGE_COUNTERS * 4,
  SHARED_GROUPS_OFFSET = SHARED_RINGS_OFFSET + STORE_RINGS * 4,
  SHARED_WAITERS_OFFSET = SHARED_GROUPS_OFFSET + RING_GROUPS * 4,
  SHARED_PLACES_OFFSET = SHARED_WAITERS_OFFSET + STORE_WAITERS * (int)sizeof(struct wait_slot),
  SHARED_BYTES = SHARED_PLACES_OFFSET + PLACES_BYTES
};

struct shared {
  int fd;
  struct shared_page *page;
  _Atomic uint32_t *changes;
  _Atomic uint32_t *rings, *ring_groups;
  struct wait_slot *waiters;
  struct places places;
  bool sole_user; /* this process was the only user when it opened the store */
  bool is_new;    /* the file was made anew: it has no slots of waiters from before */
};

/* Takes the gate, which is held until shared_admit, so that one process at a time opens a store.
 * Errors: BUSY, STORE, NOMEM. */
int shared_open(struct db *db, store_deadline deadline, struct tidings_error *error);
/* Takes only the gate; shared_admit gives it back. Errors: BUSY, STORE. */
int shared_gate(struct db *db, store_deadline deadline, struct tidings_error *error);
void shared_admit(struct db *db);
void shared_close(struct db *db);

/* For callers that read data.mdb without the engine: keeps every other process from opening the
 * store at `directory_fd`, until shared_leave(*ret_fd). *ret_fd -1: no process has ever used the
 * store, or none can. Makes and changes nothing. *ret_user: the pid of a process that uses the
 * store; then *ret_fd is not written. Errors: BUSY (another process is opening the store), STORE.
 */
int shared_alone(int directory_fd, const char *directory, uint32_t budget_ms, int *ret_fd,
                 uint32_t *ret_user, struct tidings_error *error);
void shared_leave(int fd); /* releases its locks and closes it; -1 is allowed */

/* Reads the page of a store that is not open in this process. False: its layout is not this
 * build's. */
bool shared_read_page(int fd, struct shared_page *ret_page);

/* -- locks.c ----------------------------------------------------------------------------------- */

/* As sole user, with the gate: makes all locks. Errors: STORE. */
int locks_make(struct db *db, struct tidings_error *error);

/* Takes the writer lock, which all processes share. Errors: BUSY, STORE. */
int shared_writer_lock(struct db *db, store_deadline deadline, struct tidings_error *error);
void shared_writer_unlock(struct db *db);
bool shared_writer_try(struct db *db); /* takes it at once or not at all */

/* Takes the lock around LMDB's calls that wait for other processes without a limit: opening and
 * closing an environment, taking a slot for a new reader, looking for dead readers, beginning to
 * write after a writer died. It is held only during such a call, and is taken after the writer
 * lock. Returns 0 or an errno: ETIMEDOUT past the deadline. */
int readers_lock(struct db *db, store_deadline deadline);
void readers_unlock(struct db *db);

/* -- the change counters ----------------------------------------------------------------------- */

/* Makes the counters odd; to be called before the commit. */
void shared_changes_begin(struct db *db, const uint32_t *sessions, size_t count);
/* Makes the counters even again; to be called after the commit. */
void shared_changes_end(struct db *db, const uint32_t *sessions, size_t count);

#endif
