/* SPDX-License-Identifier: MIT
 *
 * store/handle.h: what an open store and a transaction hold, for the folders inside store/. Each
 * part is the business of the folder named beside it.
 */
#ifndef STORE_HANDLE_H
#define STORE_HANDLE_H

#include "common/error.h"
#include "store/db/db.h"
#include "store/store.h"

struct push_slot;
struct waiter_line;
struct rings;

/* db < rows < wake < push, forget < open: no folder knows one that stands after it. */
struct store {
  struct db db;

  struct { /* wake/waiters.c, wake/rings.c */
    pthread_mutex_t lines_lock;
    struct waiter_line *lines;        /* by the waiter's slot; NULL: none was called yet */
    int fifo;                         /* this process's own; -1: it does not wait */
    _Atomic uintptr_t waiting_thread; /* the pthread_t that waits; 0: none has asked yet */
    _Atomic(struct rings *) rings;    /* NULL: it has never looked */
  } wake;

  struct { /* push/push.c */
    pthread_mutex_t lock;
    struct push_slot *first, *last; /* those that wait */
    bool led;
  } group;
};

enum { TOUCHED_SESSIONS = 64, CALLED_OWNERS = 4 };

struct store_txn {
  struct store *store;
  struct db_txn db;
  bool writing;
  uint32_t touched[TOUCHED_SESSIONS]; /* their change counters move on commit */
  size_t touched_count;

  uint64_t ringing;    /* a bit for each of `touched` whose owner is called as well */
  bool rung_by_others; /* than the thread that waits */
  struct {
    uint32_t pid;
    uint64_t start_time;
  } called[CALLED_OWNERS];
  size_t called_count; /* CALLED_OWNERS + 1: too many to note; every waiter is woken */
};

#endif
