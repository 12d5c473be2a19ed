/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/engine.h: the engine of a store in a PostgreSQL database, for the files of this
 * folder.
 *
 * At its begin a transaction loads the session's rows into an ordered map, in one round trip. Reads
 * and writes use the map, and the commit sends the changes in another round trip. The map is cached
 * with the session's version: if that is the newest, the server sends no rows. Rows that have ended
 * are history, which is fetched only when it is read.
 */
#ifndef STORE_DB_POSTGRES_ENGINE_H
#define STORE_DB_POSTGRES_ENGINE_H

#include <endian.h>
#include <libpq-fe.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/buffer.h"
#include "common/error.h"
#include "store/db/postgres/map.h"
#include "store/db/postgres/scan.h"
#include "store/db/postgres/statement.h"
#include "store/db/remote.h"
#include "store/db/wake.h"

enum { PG_ABSENT = 4 };
enum { PG_FEW_ENDED = 64 }; /* changes.c moves no fewer rows of a kind to the history */
enum { PG_META = 1 };       /* the kind of the store's few own rows, which belong to session 0 */
enum {
  PG_MOST_WAITING = 33
}; /* PG_LOOK returns at most this many rows of an inbox; if it returns so many, more may wait */
enum { PG_SCHEMA = 4, PG_SCHEMA_OLDEST = 2 }; /* the schema numbers that this build can use */
enum { PG_SCHEMA_OF_DAYS = 3 }; /* adds days made ahead, dead letters, name_lock, roles */
enum {
  PG_SCHEMA_OF_MARKS = 4
}; /* from this number on, deliveries have marks, and no older build may write */
enum { KINDS = 16, CACHED_SESSIONS = 64, MOST_CONNECTIONS = 16 };

/* The engine's error numbers. ENOMEM is used as it is. */
enum pg_error {
  PG_E_LOST = 1001, /* the connection broke */
  PG_E_LATE,        /* the deadline passed, or a limit of the server that follows from it */
  PG_E_LOCKED,      /* another writer has the session */
  PG_E_READ_ONLY,
  PG_E_DENIED,
  PG_E_NO_SCHEMA,
  PG_E_OLD_TABLES, /* a table or column that a statement names is missing */
  PG_E_DISK_FULL,
  PG_E_NO_CONNECTION_LEFT,
  PG_E_STARTING,
  PG_E_OUTDATED, /* the session has changed since it was read */
  PG_E_MOVED,    /* the declared number is not, or is no longer, the number of the name */
  PG_E_OWNED,    /* a host has the session */
  PG_E_POOLED,   /* a pooler gives each transaction a different connection */
  PG_E_REFUSED,  /* the server's answer makes no sense, and was logged */
};

/* -- errors.c ---------------------------------------------------------------------------------- */

/* Returns the pg_error of a result that is an error; NULL: the connection broke. */
int pg_error_of(struct db *db, const PGresult *result);
/* Returns words that say what is wrong and what to do. */
const char *pg_reason_of(int rc);

/* Reads the number n in a key. */
static inline uint64_t pg_key_n(const struct db_key *key) {
  uint64_t n;
  memcpy(&n, key->bytes + 5, sizeof n);
  return be64toh(n);
}

/* -- url.c ------------------------------------------------------------------------------------- */

struct pg_place {
  char *conninfo; /* for libpq, with the password */
  char *schema;   /* the tenant's */
  char *shown;    /* for errors, without the password */
  char *hosts;    /* names that may have to be looked up; NULL: none */
  char *ports;    /* the ports of these hosts; NULL: the usual one */
};
/* Errors: INVAL, which never quotes the URL. NOMEM. */
int pg_place_parse(const char *url, struct pg_place *ret_place, struct tidings_error *error);
void pg_place_free(struct pg_place *place);

/* -- names.c ----------------------------------------------------------------------------------- */

/* The lists that libpq takes; they have the same length. */
struct pg_addresses {
  struct buffer hosts, addresses, ports;
  size_t count; /* 0: there is nothing to look up */
};
/* Errors: BUSY past the deadline, STORE, NOMEM. *ret_addresses is to be freed in any case. */
int pg_addresses_find(const struct pg_place *place, store_deadline deadline,
                      struct pg_addresses *ret_addresses, struct tidings_error *error);
void pg_addresses_free(struct pg_addresses *addresses);

/* -- conn.c ------------------------------------------------------------------------------------ */

enum { PG_NAME_BYTES = 20, PG_NO_LIMIT = INT_MAX };

struct pg_conn {
  PGconn *pg;
  struct pg_conn *next;
  uint64_t prepared; /* has a bit for each prepared statement; `names` has their names */
  char names[PG_STATEMENTS][PG_NAME_BYTES];
  int limit_ms;      /* for each statement and each wait for a lock; 0: not known */
  int next_limit_ms; /* the limit that the next statement sets; 0: it stays */
  /* The pipeline: how many results are to come, and which of them answer a prepare, or the setting
   * of the limit (PG_STATEMENTS). */
  size_t queued, prepare_count;
  struct pg_prepare {
    size_t at;
    enum pg_statement statement;
  } prepares[PG_STATEMENTS + 1];
};

/* Takes a connection from the pool. Returns 0, or the engine's error number with a sentence in
 * `error`. */
int pg_conn_take(struct db *db, store_deadline deadline, struct pg_conn **ret_conn,
                 struct tidings_error *error);
/* Takes an unused connection without checking that it is alive. NULL: there is none. */
struct pg_conn *pg_conn_take_idle(struct db *db);
/* Gives the connection back to the pool; closes it if it is broken or not idle. */
void pg_conn_give(struct db *db, struct pg_conn *conn);
/* Limits how long the server works on each of the next statements, or waits for a lock in it. The
 * limit is the time that is left of the call, or up to a sixteenth less. `least`: a longer limit
 * may stay, because the call itself ends in time. */
void pg_conn_limit(struct pg_conn *conn, store_deadline deadline, bool least);
/* Queues a statement; before its first use it queues the prepare too. Returns 0, or the engine's
 * error. */
int pg_send(struct pg_conn *conn, enum pg_statement statement, const struct pg_params *params);
/* Sends what is queued and waits for its `count` results, which the caller clears; results that did
 * not come are NULL. Returns 0, or the first error of the engine. */
int pg_run(struct db *db, struct pg_conn *conn, store_deadline deadline, PGresult **results,
           size_t count);
int64_t pg_int8(const PGresult *result, int row, int column);
/* Reads an integer of a result in text form. 0: it is no integer. */
int64_t pg_int_text(const PGresult *result, int row, int column);

/* Connects and enters pipeline mode; it does not set up the connection further. */
int pg_conn_dial(struct db *db, store_deadline deadline, struct pg_conn **ret_conn,
                 struct tidings_error *error);
/* pooler.c: refuses a pooler, which is there if the connection is no longer served by `process`. It
 * looks once for each open store. Errors: STORE. */
int pg_pooler_refuse(struct db *db, struct pg_conn *conn, int process, store_deadline deadline,
                     struct tidings_error *error);

/* Opens a connection beside the pool: for LISTEN, or for the lock that shows that this process is
 * alive. */
int pg_conn_open(struct db *db, store_deadline deadline, struct pg_conn **ret_conn,
                 struct tidings_error *error);
void pg_conn_close(struct pg_conn *conn);
void pg_conn_silence(PGconn *pg);
/* Call it before closing a connection on which the server may still work: the next connection that
 * is opened cancels that work if it waits for a standby. */
void pg_conn_give_up(struct db *db, const struct pg_conn *conn);
bool pg_conn_any_given_up(const struct db *db);
/* Is the connection still there? It makes no round trip. */
bool pg_conn_lives(struct pg_conn *conn);

/* -- session.c --------------------------------------------------------------------------------- */

struct pg_session {
  uint32_t number; /* 0: the store's own session, or one without a number yet */
  char *name;      /* NULL: not known */
  bool exists;     /* it has a row */
  bool own;        /* it is session 0, locked and freshly read */
  bool again;      /* it has changed and has to be loaded again */
  bool has_answer; /* `inbox` has the pushes that waited at the last look: pg_look_is_unchanged */
  int64_t version;
  struct pg_map map;
  uint64_t floors[KINDS]; /* rows of a kind before this are history */
  uint64_t near[KINDS];   /* rows of a kind from here on are in the map */
  uint64_t ended[KINDS];  /* rows before this may become history with the next commit */
  int64_t *folded;        /* rows of the inbox that are in the map */
  size_t folded_count, folded_capacity;
  int64_t folded_rings; /* how many of them ring */
  /* rows of the inbox that are not in the map */
  struct pg_inbox {
    int64_t n;
    char *body;
    size_t len;
    bool rings;
  } * inbox;
  size_t inbox_count, inbox_next;
  bool folding; /* not all of the inbox is known to be in the map */
  struct db_waiting
      waiting;    /* the counts of the inbox that a list has loaded instead of its rows */
  bool rewritten; /* a row of history may be among the live rows again */
  uint64_t used;  /* when the cache last used it */
  uint64_t lost;  /* how many connections were lost before it was read (struct db) */

  /* While it is written: */
  bool written;
  struct pg_gone {
    uint64_t n;
    uint8_t kind;
  } * gone; /* rows that were deleted */
  size_t gone_count, gone_capacity;
  struct pg_gone absent[PG_ABSENT]; /* rows that the server does not have; this holds while the
                                       session is locked */
  size_t absent_count;
  bool is_noted, tools_noted;
  struct db_noted noted;
  char *tools;
};

struct pg_txn {
  struct pg_scan scan;
  struct pg_conn *conn;
  store_deadline deadline;
  bool begun;        /* there is a transaction on the server */
  bool failing;      /* the transaction has failed */
  bool asks_version; /* the pipeline that begins it contains PG_LOCK_VERSION */
  bool checked;      /* the schema's number was checked */
  struct pg_session *sessions[TOUCHED_SESSIONS];
  size_t count;
  struct pg_session *declared; /* one of `sessions`; NULL: none */
  struct pg_noted *noted;      /* ids that the commit notes as seen; inbox.c */
  struct db_event event; /* the event that was looked up, if `event_of` is its session's number */
  uint32_t event_of;
  bool event_seen; /* its id is in the inbox */
  bool unlocked;   /* the session is used as this process read it: the transaction on the server
                      begins with a check of its version */
};

static inline struct pg_txn *pg_engine(const struct db_txn *txn) { return txn->engine; }
int pg_inbox_send_noted(const struct pg_txn *engine);
void pg_inbox_drop_noted(struct pg_txn *engine);
/* The statement that locks a name which no session has yet. */
enum pg_statement pg_txn_name_lock(const struct db *db);
/* Queues the *ret_count statements that begin a transaction and set the limits that follow from the
 * deadline. */
int pg_txn_begin_on_server(struct pg_txn *engine, size_t *ret_count);
/* Rolls the transaction back on the server. */
void pg_roll_back(struct db *db, struct pg_txn *engine);
/* Ends the transaction in this process: the connection goes back to the pool, the sessions to the
 * cache. `keep`: the sessions hold what the server has. */
void pg_txn_release(struct db_txn *txn, bool keep);
/* Like db_failed, with the store's name in the sentence. */
int pg_fail_in(const struct db *db, int rc, const char *what, struct tidings_error *error);

/* Sends a statement in the transaction and waits for its result. */
int pg_txn_fetch(struct db_txn *txn, enum pg_statement statement, const struct pg_params *params,
                 PGresult **ret_result);

void pg_session_free(struct pg_session *session);
/* Takes a session out of the cache, or makes a new one, for this caller alone: by its number, or by
 * its name if the number is 0. NULL: no memory. */
struct pg_session *pg_session_take(struct db *db, uint32_t number, struct tidings_span name);
/* Puts a session that holds what the server has into the cache. */
void pg_session_give(struct db *db, struct pg_session *session);
/* Is the session in the cache at this version, with an empty inbox? */
enum { PG_SESSION_NAME_BYTES = 256 };
bool pg_session_is_at(struct db *db, uint32_t number, int64_t version,
                      char ret_name[PG_SESSION_NAME_BYTES]);
/* Queues the statement that loads the session. */
int pg_session_send_load(struct pg_conn *conn, const struct pg_session *session);
/* Uses the session as it was read last. */
void pg_session_as_read(const struct db *db, struct pg_session *session);
/* Adds a copy of a push that waits in the session's inbox. 0, or ENOMEM. */
int pg_session_add_waiting(struct pg_session *session, int64_t n, struct tidings_span body,
                           bool rings);
void pg_session_drop_waiting(struct pg_session *session);
/* Is this row of PG_SCAN the session's own? pg_session_of_row makes a session of such a row (NULL:
 * no memory); then the caller adds the other rows, in any order, and sorts them at the end. */
bool pg_session_is_row(const PGresult *result, int row);
struct pg_session *pg_session_of_row(const PGresult *result, int row);
int pg_session_add_row(struct pg_session *session, const PGresult *result, int row);
void pg_session_sort_rows(const struct db *db, struct pg_session *session);
/* Takes the result of pg_session_send_load. */
int pg_session_loaded(struct db *db, struct pg_session *session, const PGresult *result);

/* -- changes.c --------------------------------------------------------------------------------- */

struct pg_write {
  int64_t token; /* the commit is found again by it */
  bool rings;    /* the session's owner has to act */
  bool first;    /* it is the first session that this commit writes */
};
/* Queues the statements that write the session. */
int pg_session_send_changes(struct db *db, struct pg_conn *conn, struct pg_session *session,
                            const struct pg_write *write);

/* -- look.c ------------------------------------------------------------------------------------ */

/* Queues the statement that asks for the session's version and for what waits in its inbox. */
int pg_session_send_look(struct pg_conn *conn, const struct pg_session *session);
/* Takes the result of pg_session_send_look: sets `again` if the session has changed, or more waits.
 */
int pg_session_looked(struct db *db, struct pg_session *session, const PGresult *result);

/* -- ahead.c ----------------------------------------------------------------------------------- */

struct pg_ahead {
  const struct db_key *wanted; /* a row of session 0; NULL: none */
  const struct db_event *event;
  size_t count; /* how many statements fetch it */
};
/* Returns what to fetch with a session that is loaded for `scope`; NULL: nothing. */
struct pg_ahead pg_ahead_of(struct db *db, const struct pg_session *session,
                            const struct db_scope *scope);
int pg_ahead_send(struct pg_conn *conn, const struct pg_session *session,
                  const struct pg_ahead *ahead);
/* Takes the results, which come after those that load the session. */
int pg_ahead_take(struct db_txn *txn, struct pg_session *session, const struct pg_ahead *ahead,
                  PGresult *const *results);

/* -- tree.c ------------------------------------------------------------------------------------ */

void pg_note_absent(const struct db_txn *txn, struct pg_session *session, uint8_t kind, uint64_t n);
/* Keeps a row of session 0 for all transactions: names never change while the store lives on. */
void pg_keep_row(struct db *db, const struct pg_row *row);

/* -- txn.c ------------------------------------------------------------------------------------- */

/* Finds the session in the transaction, and loads it if need be. */
int pg_txn_session(struct db_txn *txn, uint32_t number, struct pg_session **ret_session);
/* Loads rows of history: those in [n, floor) of a kind, or a single row. */
int pg_txn_fetch_range(struct db_txn *txn, struct pg_session *session, uint8_t kind, uint64_t n);
int pg_txn_fetch_one(struct db_txn *txn, struct pg_session *session, uint8_t kind, uint64_t n,
                     bool *ret_found);

/* -- push.c ------------------------------------------------------------------------------------ */

enum { PG_PUSHED_SESSIONS = 16, PG_PUSHED_NAME_BYTES = 256 };

/* Estimates how many pushes wait in the inboxes to which this process pushes. */
struct pg_pushes {
  int skips;  /* how many of the next pushes call push_record at once */
  int missed; /* grows with each plain push in a row that was not stored */
  struct pg_pushed {
    char name[PG_PUSHED_NAME_BYTES];
    size_t len;                   /* of the name; 0: the place is free */
    int64_t base, base_n;         /* how many waited when row base_n was the newest */
    int64_t waited, at_ms;        /* at most how many waited at at_ms, by this machine's clock */
    int64_t waiting;              /* notifications of the session outside of the inbox */
  } sessions[PG_PUSHED_SESSIONS]; /* indexed by a hash of the name */
};

/* Forgets the estimate for this session, so that the next push asks the server again. */
void pg_pushes_forget(struct db *db, struct tidings_span name);

enum { PG_GIVEN_UP = 16 };

struct db {
  struct db_log_to log; /* first: see db.h */
  struct owner self;
  struct pg_place place;
  int entered; /* a file in memory whose name says that this process has the store open */
  _Atomic int64_t clock_ahead_ms; /* how far the server's clock is ahead: clock.c */
  _Atomic int64_t clock_read_ms;  /* when that was read, by this machine's clock; 0: not yet */
  _Atomic bool hosts_clock;       /* the host's clock counts, because it is simulated */
  _Atomic bool pooler_looked_for;
  uint8_t kinds[KINDS]; /* enum db_kind */

  pthread_mutex_t lock; /* guards the pool, the cache and `pushes` */
  struct pg_pushes pushes;
  pthread_cond_t given;
  struct pg_conn *idle;
  size_t connections; /* idle ones and those in use */
  struct pg_session *cache[CACHED_SESSIONS];
  uint64_t uses;
  uint64_t
      lost; /* how many connections were lost. Rows that were read before may come from a server
               that has failed; its successor may have other rows under the same version */
  struct pg_map store_rows; /* rows of session 0 that never change */
  struct pg_map void_rows;  /* rows that became void; a transaction may still look at them */
  _Atomic int schema;       /* the schema's number, as the newest connection read it */
  int64_t life;             /* identifies the server and its tables: life.c */
  _Atomic uint32_t lives;   /* how often `life` changed */

  pthread_mutex_t alive_lock;
  struct pg_conn *alive; /* holds the lock that shows that this process is alive; NULL: not yet */

  struct pg_wake *wake;   /* wake.c */
  struct pg_local *local; /* local.c */

  int revision;     /* of the tables */
  bool only_pushes; /* this role may do nothing else */
  /* From the store's own settings: how many notifications may wait in a session, and whether the
   * store is full. */
  _Atomic int64_t pending_most;
  _Atomic bool is_full;
  _Atomic bool waits_for_standby; /* the server waits for a standby in each commit */
  int given_up[PG_GIVEN_UP]; /* processes of the server that may still work on a call that was given
                                up */
  /* days.c: when the last day with a partition ends, by the server's clock; and whether the daily
   * work is due. */
  _Atomic int64_t days_end_ms;
  _Atomic bool days_due;
  int64_t
      days_tried_ms; /* when the daily work was last begun, by this machine's clock; under `lock` */
  struct pg_conn *keeper; /* the connection that does the daily work now; NULL: none */
  int keeper_answers;     /* how many of its two answers have come */
};

/* -- days.c: the daily work on the tables ------------------------------------------------------ */

/* The columns of `store` with the schema number and the revision. A missing column is no error. */
#define PG_NUMBERS "schema, (to_jsonb(store) ->> 'revision')::integer"
/* The store's own limits: how many notifications may wait in a session, and whether the store is
 * full. */
#define PG_STORE_LIMITS                                                                            \
  "coalesce((to_jsonb(store) ->> 'pending_per_session')::bigint, 9223372036854775807), "           \
  "coalesce(to_jsonb(store) ->> 'is_full' = 'true', false)"
/* The schema number is in the first columns, as text. Errors: SCHEMA_NEWER, STORE (too old). */
int pg_schema_check(const struct pg_place *place, const PGresult *result, int *ret_number,
                    struct tidings_error *error);
/* Counts the days that have partitions, and says whether keep_days has work; its result is text. */
extern const char pg_days_query[];
void pg_days_read(struct db *db, const PGresult *result);
/* Is there a partition for rows that end today? */
bool pg_days_reach(const struct db *db);
/* Takes over an unused connection if the daily work is due. */
bool pg_days_take(struct db *db, struct pg_conn *conn);
/* Returns the connection of the daily work when it is idle again. NULL: there is none. Call it with
 * the lock. */
struct pg_conn *pg_days_give(struct db *db);
void pg_days_close(struct db *db);
/* -- clock.c ----------------------------------------------------------------------------------- */

void pg_clock_read(struct db *db, int64_t server_ms);
void pg_clock_take(struct db *db, const PGresult *result);
bool pg_clock_is_old(const struct db *db);

/* -- wake.c, alive.c --------------------------------------------------------------------------- */

int pg_wake_init(struct db *db);
void pg_wake_finish(struct db *db);
/* The name of a process, and of an owner, in the database. */
enum { PG_OWNER_BYTES = 36 };
void pg_owner_bytes(const struct owner *owner, uint8_t bytes[PG_OWNER_BYTES]);
/* Takes the lock that shows that this process is alive, unless it is held. */
int pg_alive_begin(struct db *db, store_deadline deadline, struct tidings_error *error);
void pg_alive_end(struct db *db);

#endif
