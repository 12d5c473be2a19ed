/* SPDX-License-Identifier: MIT
 *
 * store/db/db.h: the interface between the store and its engine: transactions over ordered keys,
 * and what the processes of a store learn from each other (see db/wake.h). A key is 13 bytes and
 * begins with the session's number; a value is any bytes. The folders above give them a meaning.
 *
 * Each engine is a folder here that defines all of these functions; a plugin is linked with one of
 * them. No folder above knows which.
 */
#ifndef STORE_DB_DB_H
#define STORE_DB_DB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <tidings/host.h>

#include "common/span.h"
#include "store/db/deadline.h"
#include "store/db/limits.h"
#include "store/db/owner.h"

/* The further functions of an engine whose rows are on another machine; see remote.h. NULL: the
 * rows are on this one. */
struct db_remote;
extern const struct db_remote *const db_remote;
extern const uint64_t db_layout; /* the oldest layout (limits.h) whose rows it takes as they are */

enum { DB_KEY_BYTES = 13 };

struct db_key {
  uint8_t bytes[DB_KEY_BYTES];
};

/* An open store. The engine's. */
struct db;
struct buffer;

/* -- opening ----------------------------------------------------------------------------------- */

/* How an engine may keep the rows of a kind. */
enum db_kind {
  DB_KIND_KEPT = 0,      /* few, which each transaction of the session may want */
  DB_KIND_ENDS = 1,      /* numbered; the first ones end, and are history */
  DB_KIND_LOOKED_UP = 2, /* many; each is looked up by itself */
  DB_KIND_ONCE = 3       /* likewise; written once, and read seldom: it becomes history */
};

struct db_options {
  const char *place; /* where the store is, NUL-terminated */
  void (*log)(void *context, uint32_t severity, const char *text);
  void *log_context;
  uint32_t budget_ms;  /* how long to wait for another process that is opening it */
  struct db_key first; /* the row that a new store begins with */
  /* Makes its value, for a new store. Returns 0, or -1: no memory. */
  int (*first_value)(const void *context, bool for_older_builds, struct buffer *ret_value);
  const void *first_context;
  const uint8_t *kinds; /* enum db_kind, by a key's fifth byte */
  size_t kind_count;
};

/* No other process can open the store until db_admit. Errors: UNSUPPORTED (LMDB: a URL), BUSY,
 * STORE, NOMEM. */
int db_open(const struct db_options *options, struct db **ret_db, struct tidings_error *error);
void db_admit(struct db *db);
/* Between db_open and db_admit: does no other process use the store? */
bool db_is_alone(const struct db *db);
/* Writes into the store's files what a close writes, so that the process may end without closing.
 * No transaction may be begun afterwards. */
void db_note_clean(struct db *db);
void db_close(struct db *db); /* no transaction may be open */

const char *db_place(const struct db *db);        /* as its errors name it */
const struct owner *db_self(const struct db *db); /* the process that opened it */
bool db_owner_alive(struct db *db, const struct owner *owner);
/* Writes the machine's name as owner_machine does. Empty: it is this machine, or only one machine
 * uses the store. */
enum { DB_MACHINE_BYTES = OWNER_MACHINE_BYTES };
void db_owner_machine(const struct db *db, const struct owner *owner,
                      char ret_name[DB_MACHINE_BYTES]);

/* The time: `host_ms`, or that of the database's own clock. */
int64_t db_now(const struct db *db, int64_t host_ms);

/* Each engine's struct db begins with this; log.c needs no more of it. */
struct db_log_to {
  void (*log)(void *context, uint32_t severity, const char *text); /* NULL: nowhere */
  void *context;
};
void db_log(const struct db *db, uint32_t severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The functions below that return a plain int return 0 or the engine's error number. This makes a
 * sentence of it, "the store failed to <what>: <reason>", and returns NOMEM for ENOMEM, BUSY for
 * ETIMEDOUT, else STORE. */
int db_failed(struct tidings_error *error, int rc, const char *what);

/* -- transactions ------------------------------------------------------------------------------ */

/* An event with an id, which will be looked for in the session that is declared. The texts are the
 * caller's until the transaction ends. */
struct db_event {
  struct tidings_span source, id;
  int64_t since_ms;  /* as of inbox_seen */
  struct db_key row; /* where the store would have noted it */
};

/* The session and event that a transaction declares at its begin. It may touch others, which costs
 * more. If both name and number are given, the caller checks that they belong together, unless the
 * engine has done so (db_checks_names: BUSY). */
struct db_scope {
  struct tidings_span name; /* of a session; empty: not declared */
  uint32_t session;         /* its number; 0: not known, or not declared */
  bool goes_by_look;        /* a snapshot: as this process has just read it */
  /* The write is about what this process has just read of the session. An engine may leave a second
   * look, if that costs much, to the commit, which may find the write outdated. */
  bool optimistic;
  bool has_answer; /* a snapshot: `is_unchanged` of remote.h has kept its answer for the same
                      call */
  bool prefetches; /* `wanted`, of session 0, will be read: an engine may fetch it now */
  struct db_key wanted;
  const struct db_event *event; /* the event, for the same engines; NULL: none */
};

enum { TOUCHED_SESSIONS = 64, CALLED_OWNERS = 4 };

struct db_txn {
  struct db *db;
  void *engine;            /* the engine's own */
  store_deadline deadline; /* of a write */
  enum db_access { DB_READS, DB_WRITES, DB_LOOKS_ON } access;

  size_t touched_count;
  uint64_t ringing;    /* a bit for each of `touched` whose owner is called as well */
  bool rung_by_others; /* it was rung by another thread than the one that waits */
  bool may_be_stale;   /* `optimistic`, and what is read may be outdated: only the commit knows */
  bool outdated;       /* db_commit failed since the session is not as it was read */
  size_t called_count; /* CALLED_OWNERS + 1: too many to note; every waiter is woken */

  /* Large, and not to be zeroed for one push: */
  uint32_t touched[TOUCHED_SESSIONS]; /* sessions whose counter of changes moves on commit */
  struct owner called[CALLED_OWNERS];
};
static inline void db_txn_clear(struct db_txn *txn) {
  memset(txn, 0, offsetof(struct db_txn, touched));
}

bool db_checks_names(const struct db *db);

/* A snapshot. `scope` NULL: nothing is declared. Errors: BUSY, STORE, NOMEM. */
int db_read(struct db *db, const struct db_scope *scope, store_deadline deadline,
            struct db_txn *ret_txn, struct tidings_error *error);
/* No other process writes to what is declared until it is over. Errors: BUSY (past the deadline),
 * STORE, NOMEM. */
int db_write(struct db *db, const struct db_scope *scope, store_deadline deadline,
             struct db_txn *ret_txn, struct tidings_error *error);
/* Makes a snapshot of the rows with which `writing` began. 0, or the engine's error. */
int db_look_on(const struct db_txn *writing, struct db_txn *ret_txn);

void db_end(struct db_txn *txn); /* of a snapshot, or giving up a write */
/* Durable when it returns 0, and then the counters have moved and the waiters are woken. Any error:
 * nothing was written, unless the text says "outcome unknown". The transaction is over in either
 * case. */
int db_commit(struct db_txn *txn, struct tidings_error *error);

/* The commit moves the session's counter of changes. 0, or -1: too many sessions in one
 * transaction. */
int db_touch(struct db_txn *txn, uint32_t session);
/* Notes an owner whom the commit calls. */
void db_call(struct db_txn *txn, const struct owner *owner);

/* Numbers that stand for the state of all rows: the same number means the same rows. `before`: as
 * the transaction found them; 0 unless this process made the store's last commit. `after`: as this
 * write's commit leaves them. An engine without such numbers answers 0. */
struct db_state {
  uint64_t before, after;
};
struct db_state db_state(const struct db_txn *txn);

/* Makes sure that a write of `bytes` leaves room for leases and settles. Errors: FULL, STORE. */
int db_reserve(struct db_txn *txn, uint64_t bytes, struct tidings_error *error);

/* -- rows: 0, or the engine's error ------------------------------------------------------------ */

/* The value stays where it is until the transaction ends or writes. Its ptr is NULL if there is no
 * such row. */
int db_get(struct db_txn *txn, const struct db_key *key, struct tidings_span *ret_value);
int db_put(struct db_txn *txn, const struct db_key *key, struct tidings_span value);
/* Puts a row that must be new; EEXIST: it is not. An engine may notice that only at the commit,
 * which then fails as outdated. */
int db_put_new(struct db_txn *txn, const struct db_key *key, struct tidings_span value);
/* Room for a value, to be filled before anything else is done with the transaction. */
int db_put_room(struct db_txn *txn, const struct db_key *key, size_t len, void **ret_value);
/* It is no error if there is no such row. */
int db_delete(struct db_txn *txn, const struct db_key *key);

/* The row that it stands at. */
struct db_cursor {
  void *engine;
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

/* -- pushes ------------------------------------------------------------------------------------ */

struct db_push;

/* The result of a batch in a transaction. */
enum db_batch {
  DB_BATCH_STORED,    /* commit it */
  DB_BATCH_UNCHANGED, /* nothing was written */
  DB_BATCH_BROKEN     /* one of the batch broke the transaction, which is to be given up */
};

/* A push as a row of an inbox. */
struct db_inbox {
  struct tidings_span session, source, id; /* id empty: no dedup */
  struct tidings_span body;                /* what becomes of it: see remote.h */
  struct tidings_span kind_source, kind_name, tool;
  int64_t now_ms, window_ms;
  uint32_t pending_limit, per_minute;
  bool critical, rings, checks_kind;
};

/* A push that waits to be stored. The caller fills the first block. */
struct db_push {
  uint64_t bytes; /* what it may cost on disk */
  struct db_inbox row;
  /* Writes all of `batch` in the transaction, if the engine has no inbox; each entry's code says
   * how it went. */
  enum db_batch (*store)(struct db_push *batch, struct db_txn *txn);
  struct tidings_error *error;
  void *context;

  int code;
  bool duplicate;    /* with an inbox: it was there already */
  bool disk_is_full; /* it was not stored because the disk is full: forgetting something may help */
  struct db_push *next; /* in the batch */
  uintptr_t thread;     /* its caller's */
  pthread_cond_t changed;
  uint8_t state; /* the engine's */
};
/* Durable when it returns 0. Callers that wait together are committed together. Returns the push's
 * code: what `store` made of it, or BUSY (withdrawn, not stored), STORE, NOMEM. */
int db_push(struct db *db, struct db_push *push, store_deadline deadline);

/* The pushes that a snapshot of an engine with an inbox has put among the rows: their number, and a
 * stamp of them. A write that finds the same stamp for as many pushes has given them the same
 * places. */
struct db_places {
  uint64_t count, stamp;
};

#endif
