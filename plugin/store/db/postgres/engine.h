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
#include "store/db/postgres/scan.h"
#include "store/db/postgres/statement.h"
#include "store/db/remote.h"
#include "store/db/wake.h"

enum { PG_ABSENT = 4 };
enum { PG_FEW_ENDED = 8 };     /* fewer rows of a kind are not moved to the history: changes.c */
enum { PG_META = 1 };          /* the kind of the store's few own rows, of session 0 */
enum { PG_MOST_WAITING = 33 }; /* rows of an inbox that PG_LOOK brings: so many may be more */
enum { PG_SCHEMA = 4, PG_SCHEMA_OLDEST = 2 }; /* the tables' numbers that this build can use */
enum { PG_SCHEMA_OF_DAYS = 3 };               /* from this number on, days are made ahead */
enum { PG_SCHEMA_OF_MARKS = 4 }; /* and no older build may write: deliveries have marks */
enum { KINDS = 16, CACHED_SESSIONS = 64, MOST_CONNECTIONS = 16 };

/* The engine's error numbers; ENOMEM is itself. */
enum pg_error {
  PG_E_LOST = 1001, /* the connection broke */
  PG_E_LATE,        /* the deadline passed, or the server's own limits, which follow it */
  PG_E_LOCKED,      /* another writer has the session */
  PG_E_READ_ONLY,
  PG_E_DENIED,
  PG_E_NO_SCHEMA,
  PG_E_OLD_TABLES, /* something that a statement names is not there */
  PG_E_DISK_FULL,
  PG_E_NO_CONNECTION_LEFT,
  PG_E_STARTING,
  PG_E_OUTDATED, /* the session is not as it was read */
  PG_E_MOVED,    /* the number that is declared is not, or no more, that of the name */
  PG_E_OWNED,    /* a host has the session */
  PG_E_POOLED,   /* a pooler gives each transaction another connection */
  PG_E_REFUSED,  /* the server's answer makes no sense to us: it was logged */
};

/* -- errors.c ---------------------------------------------------------------------------------- */

/* Returns the pg_error of a result that is an error; NULL: the connection broke. */
int pg_error_of(struct db *db, const PGresult *result);
const char *pg_reason_of(int rc); /* what to do */

/* The n of a key. */
static inline uint64_t pg_key_n(const struct db_key *key) {
  uint64_t n;
  memcpy(&n, key->bytes + 5, sizeof n);
  return be64toh(n);
}

/* -- url.c ------------------------------------------------------------------------------------- */

struct pg_place {
  char *conninfo; /* for libpq: has the password */
  char *schema;   /* the tenant's */
  char *shown;    /* for errors: without it */
  char *hosts;    /* that may have to be looked up; NULL: none */
  char *ports;    /* of them; NULL: the usual one */
};
/* Errors: INVAL, which never quotes the URL. NOMEM. */
int pg_place_parse(const char *url, struct pg_place *ret_place, struct tidings_error *error);
void pg_place_free(struct pg_place *place);

/* -- names.c ----------------------------------------------------------------------------------- */

/* As libpq takes them: lists of the same length. */
struct pg_addresses {
  struct buffer hosts, addresses, ports;
  size_t count; /* 0: there is nothing to look up */
};
/* Errors: BUSY past the deadline, STORE, NOMEM. It is to be freed in either case. */
int pg_addresses_find(const struct pg_place *place, store_deadline deadline,
                      struct pg_addresses *ret_addresses, struct tidings_error *error);
void pg_addresses_free(struct pg_addresses *addresses);

/* -- map.c: rows of a session in order --------------------------------------------------------- */

struct pg_row {
  char *value; /* malloc'ed */
  size_t len;
  uint64_t n;
  uint8_t kind;
  bool dirty; /* not on the server yet */
  bool fresh; /* and the server has no row of this key */
};

struct pg_map {
  struct pg_row *rows;
  size_t count, capacity;
};
/* Index of the first row that is not before the key. */
size_t pg_map_find(const struct pg_map *map, uint8_t kind, uint64_t n);
struct pg_row *pg_map_get(const struct pg_map *map, uint8_t kind, uint64_t n); /* NULL: none */
/* A row with room for `len` bytes, in the place of one that is there. NULL: no memory. */
struct pg_row *pg_map_put(struct pg_map *map, uint8_t kind, uint64_t n, size_t len);
void pg_map_remove(struct pg_map *map, size_t at);
void pg_map_free(struct pg_map *map);

/* -- conn.c ------------------------------------------------------------------------------------ */

enum { PG_NAME_BYTES = 20, PG_NO_LIMIT = INT_MAX };

struct pg_conn {
  PGconn *pg;
  struct pg_conn *next;
  uint64_t prepared; /* a bit for each statement that it has prepared, under these names: */
  char names[PG_STATEMENTS][PG_NAME_BYTES];
  int limit_ms;      /* of each statement, and of waiting for a lock; 0: it is not known */
  int next_limit_ms; /* what it is to be, which the next statement takes along; 0: it stays */
  /* In the pipeline: how many results are to come, and which of them are of preparing, or of the
   * limit: PG_STATEMENTS. */
  size_t queued, prepare_count;
  struct pg_prepare {
    size_t at;
    enum pg_statement statement;
  } prepares[PG_STATEMENTS + 1];
};

/* A connection of the pool. 0, or the engine's error number with a sentence in `error`. */
int pg_conn_take(struct db *db, store_deadline deadline, struct pg_conn **ret_conn,
                 struct tidings_error *error);
/* An unused connection, without a check that it is alive. NULL: there is none. */
struct pg_conn *pg_conn_take_idle(struct db *db);
/* Back to the pool; one that is not idle, or broken, is closed. */
void pg_conn_give(struct db *db, struct pg_conn *conn);
/* How long the server works on one of the next statements, or waits for a lock in it: what is left
 * of the call, or up to a sixteenth less. `least`: a longer limit may stay, since the call itself
 * ends in time. */
void pg_conn_limit(struct pg_conn *conn, store_deadline deadline, bool least);
/* Queues a statement, and before its first use what prepares it. 0, or the engine's error. */
int pg_send(struct pg_conn *conn, enum pg_statement statement, const struct pg_params *params);
/* Sends what is queued, and waits for all of its results, `count` of them, which the caller clears;
 * those that did not come are NULL. 0, or the engine's error: the first one's. */
int pg_run(struct db *db, struct pg_conn *conn, store_deadline deadline, PGresult **results,
           size_t count);
int64_t pg_int8(const PGresult *result, int row, int column);
/* Reads an integer of a result in text form. 0: it is no integer. */
int64_t pg_int_text(const PGresult *result, int row, int column);

/* Connects and enters pipeline mode; it does not set up the connection further. */
int pg_conn_dial(struct db *db, store_deadline deadline, struct pg_conn **ret_conn,
                 struct tidings_error *error);
/* -- pooler.c: there is one: this connection has just used `process` of the server. Looked at once
 * for each store that is open. Errors: STORE */
int pg_pooler_refuse(struct db *db, struct pg_conn *conn, int process, store_deadline deadline,
                     struct tidings_error *error);

/* A connection beside the pool: for LISTEN, for the lock that says that we are alive. */
int pg_conn_open(struct db *db, store_deadline deadline, struct pg_conn **ret_conn,
                 struct tidings_error *error);
void pg_conn_close(struct pg_conn *conn);
void pg_conn_silence(PGconn *pg);
/* Before a connection is closed on which the server may still be at work: the next one that is
 * opened cancels that, if it waits for a standby. */
void pg_conn_give_up(struct db *db, const struct pg_conn *conn);
bool pg_conn_any_given_up(const struct db *db);
/* Is the connection still there? No round trip. */
bool pg_conn_lives(struct pg_conn *conn);

/* -- session.c --------------------------------------------------------------------------------- */

struct pg_session {
  uint32_t number; /* 0: the store's own, or one that has no number yet */
  char *name;      /* NULL: not known */
  bool exists;     /* it has a row */
  bool own;        /* number 0, locked and fresh */
  bool again;      /* it has changed, and is to be loaded */
  bool has_answer; /* `inbox` is what waited at the last question: pg_look_is_unchanged */
  int64_t version;
  struct pg_map map;
  uint64_t floors[KINDS]; /* rows of a kind before this are history */
  uint64_t near[KINDS];   /* rows of a kind from here on are in the map */
  uint64_t ended[KINDS];  /* and before this they may become history with the next commit */
  int64_t *folded;        /* rows of the inbox that are in the map */
  size_t folded_count, folded_capacity;
  int64_t folded_rings; /* how many of them ring */
  /* rows of the inbox that are not */
  struct pg_inbox {
    int64_t n;
    char *body;
    size_t len;
    bool rings;
  } * inbox;
  size_t inbox_count, inbox_next;
  struct db_waiting waiting; /* in the inbox of one of a list, of which no more is known */
  bool rewritten;            /* a row that was history may be among the live ones again */
  uint64_t used;             /* for the cache: when */
  uint64_t lost;             /* how many connections were lost before it was read: struct db */

  /* In a write: */
  bool written;
  struct pg_gone {
    uint64_t n;
    uint8_t kind;
  } * gone; /* rows that were deleted */
  size_t gone_count, gone_capacity;
  struct pg_gone absent[PG_ABSENT]; /* rows that the server does not have, while it is locked */
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
  bool failing;      /* and it has failed */
  bool asks_version; /* the pipeline that begins it has PG_LOCK_VERSION */
  bool checked;      /* the schema's number was looked at */
  struct pg_session *sessions[TOUCHED_SESSIONS];
  size_t count;
  struct pg_session *declared; /* one of them; NULL: none */
  struct pg_noted *noted;      /* ids that the commit notes as seen; inbox.c */
  struct db_event event;       /* what is known of it, if `event_of` is its session's number */
  uint32_t event_of;
  bool event_seen; /* in the inbox */
  bool unlocked; /* it was taken as this process read it: the transaction on the server begins with
                    a look at its version */
};

static inline struct pg_txn *pg_engine(const struct db_txn *txn) { return txn->engine; }
int pg_inbox_send_noted(const struct pg_txn *engine);
void pg_inbox_drop_noted(struct pg_txn *engine);
/* The statement that locks a name which no session has yet. */
enum pg_statement pg_txn_name_lock(const struct db *db);
/* Queues the begin of a transaction, with the limits that follow from the deadline: *ret_count
 * statements. */
int pg_txn_begin_on_server(struct pg_txn *engine, size_t *ret_count);
/* Gives up what the server has of it. */
void pg_roll_back(struct db *db, struct pg_txn *engine);
/* The end of it here: connection and sessions go back; `keep`: what they hold is what the server
 * has. */
void pg_txn_release(struct db_txn *txn, bool keep);
/* db_failed with the store's name. */
int pg_fail_in(const struct db *db, int rc, const char *what, struct tidings_error *error);

/* A statement whose result is awaited, in the transaction. */
int pg_txn_fetch(struct db_txn *txn, enum pg_statement statement, const struct pg_params *params,
                 PGresult **ret_result);

void pg_session_free(struct pg_session *session);
/* Out of the cache, exclusively, or new: by number, or by name if that is 0. NULL: no memory. */
struct pg_session *pg_session_take(struct db *db, uint32_t number, struct tidings_span name);
/* Into the cache; what it holds is what the server has. */
void pg_session_give(struct db *db, struct pg_session *session);
/* Is it in the cache, read at this version, with nothing of the inbox? */
enum { PG_SESSION_NAME_BYTES = 256 };
bool pg_session_is_at(struct db *db, uint32_t number, int64_t version,
                      char ret_name[PG_SESSION_NAME_BYTES]);
/* Queues what loads it. */
int pg_session_send_load(struct pg_conn *conn, const struct pg_session *session);
/* It is taken as it was read last. */
void pg_session_as_read(const struct db *db, struct pg_session *session);
/* Adds a copy of a push that waits in the session's inbox. 0, or ENOMEM. */
int pg_session_add_waiting(struct pg_session *session, int64_t n, struct tidings_span body,
                           bool rings);
void pg_session_drop_waiting(struct pg_session *session);
/* Is this row of PG_SCAN a session's own? A session is made of such a row (NULL: no memory); then
 * its other rows are added, in any order, and sorted at the end. */
bool pg_session_is_row(const PGresult *result, int row);
struct pg_session *pg_session_of_row(const PGresult *result, int row);
int pg_session_add_row(struct pg_session *session, const PGresult *result, int row);
void pg_session_sort_rows(const struct db *db, struct pg_session *session);
/* Takes the result of that. */
int pg_session_loaded(struct db *db, struct pg_session *session, const PGresult *result);

/* -- changes.c --------------------------------------------------------------------------------- */

struct pg_write {
  int64_t token; /* by which the commit is found again */
  bool rings;    /* its owner has to act */
  bool first;    /* of those that this commit writes */
};
/* Queues what writes the session. */
int pg_session_send_changes(struct db *db, struct pg_conn *conn, struct pg_session *session,
                            const struct pg_write *write);

/* -- look.c ------------------------------------------------------------------------------------ */

/* Queues what looks whether it has another version, and what waits in its inbox. */
int pg_session_send_look(struct pg_conn *conn, const struct pg_session *session);
/* Takes the result of that: it is to be loaded `again` if it has changed, or if more waits. */
int pg_session_looked(struct db *db, struct pg_session *session, const PGresult *result);

/* -- ahead.c ----------------------------------------------------------------------------------- */

struct pg_ahead {
  const struct db_key *wanted; /* a row of session 0; NULL: none */
  const struct db_event *event;
  size_t count; /* of the statements that bring it */
};
/* Returns what to fetch with a session that is loaded for `scope`; NULL: nothing. */
struct pg_ahead pg_ahead_of(struct db *db, const struct pg_session *session,
                            const struct db_scope *scope);
int pg_ahead_send(struct pg_conn *conn, const struct pg_session *session,
                  const struct pg_ahead *ahead);
/* After what loads the session. */
int pg_ahead_take(struct db_txn *txn, struct pg_session *session, const struct pg_ahead *ahead,
                  PGresult *const *results);

/* -- tree.c ------------------------------------------------------------------------------------ */

void pg_note_absent(const struct db_txn *txn, struct pg_session *session, uint8_t kind, uint64_t n);
/* Keeps a row of session 0 for all transactions: names never change while the store lives on. */
void pg_keep_row(struct db *db, const struct pg_row *row);

/* -- txn.c ------------------------------------------------------------------------------------- */

/* The session in the transaction, loaded if need be. */
int pg_txn_session(struct db_txn *txn, uint32_t number, struct pg_session **ret_session);
/* Loads rows that are history: [n, floor) of a kind, or one. */
int pg_txn_fetch_range(struct db_txn *txn, struct pg_session *session, uint8_t kind, uint64_t n);
int pg_txn_fetch_one(struct db_txn *txn, struct pg_session *session, uint8_t kind, uint64_t n,
                     bool *ret_found);

/* -- push.c ------------------------------------------------------------------------------------ */

enum { PG_PUSHED_SESSIONS = 16, PG_PUSHED_NAME_BYTES = 256 };

/* How many pushes wait in the inboxes to which this process pushes, as far as it knows. */
struct pg_pushes {
  int skips;  /* so many more are not tried as plain ones */
  int missed; /* so many plain ones in a row were to be asked */
  struct pg_pushed {
    char name[PG_PUSHED_NAME_BYTES];
    size_t len;                   /* of the name; 0: of none */
    int64_t base, base_n;         /* so many waited when the row of that number was the newest, */
    int64_t waited, at_ms;        /* and so many at most, then, by the machine's clock */
    int64_t waiting;              /* beside those in the inbox */
  } sessions[PG_PUSHED_SESSIONS]; /* by a hash of the name */
};

/* Forgets the number for this session, so that the server is asked again. */
void pg_pushes_forget(struct db *db, struct tidings_span name);

enum { PG_GIVEN_UP = 16 };

struct db {
  struct db_log_to log; /* first: see db.h */
  struct owner self;
  struct pg_place place;
  int entered; /* a file in memory whose name says that this process has the store open */
  _Atomic int64_t clock_ahead_ms; /* of the server's clock; clock.c */
  _Atomic int64_t clock_read_ms;  /* when it was read, by ours; 0: not yet */
  _Atomic bool hosts_clock;       /* the host's counts: it is a simulated one */
  _Atomic bool pooler_looked_for;
  uint8_t kinds[KINDS]; /* enum db_kind */

  pthread_mutex_t lock; /* of the pool, the cache and `pushes` */
  struct pg_pushes pushes;
  pthread_cond_t given;
  struct pg_conn *idle;
  size_t connections; /* idle ones and those in use */
  struct pg_session *cache[CACHED_SESSIONS];
  uint64_t uses;
  uint64_t lost; /* connections. Rows that were read before may be those of a server that has
                    failed; the one that took over may have other rows under the same version */
  struct pg_map store_rows; /* of session 0: those that never change */
  struct pg_map void_rows;  /* those that were void since: a transaction may still look at them */
  _Atomic int schema;       /* the tables' number, as the newest connection has it */
  int64_t life;             /* whose rows they are, and since when, likewise: life.c */
  _Atomic uint32_t lives;   /* how often that changed */

  pthread_mutex_t alive_lock;
  struct pg_conn *alive; /* holds the lock that says so; NULL: not needed yet */

  struct pg_wake *wake;   /* wake.c */
  struct pg_local *local; /* local.c */

  int revision;     /* of the tables */
  bool only_pushes; /* this role may do nothing else */
  /* By the store's own settings: how many may wait in a session, and that it has no room. */
  _Atomic int64_t pending_most;
  _Atomic bool is_full;
  _Atomic bool waits_for_standby; /* the server does, in each commit */
  int given_up[PG_GIVEN_UP]; /* the server's processes that may be at work on what was given up */
  /* days.c. When the last day that there is ends, by the server's clock; there is something to do.
   */
  _Atomic int64_t days_end_ms;
  _Atomic bool days_due;
  int64_t days_tried_ms;  /* when that was done last, by this machine's clock; under `lock` */
  struct pg_conn *keeper; /* does it now; NULL: it is not done */
  int keeper_answers;     /* of two, that have come */
};

/* -- days.c: the days of history, and what else is done once a day ----------------------------- */

/* The columns of `store` that say which tables these are: one that is not there is no error. */
#define PG_NUMBERS "schema, (to_jsonb(store) ->> 'revision')::integer"
/* And the store's own limits: how many may wait in a session, and that it has no room. */
#define PG_STORE_LIMITS                                                                            \
  "coalesce((to_jsonb(store) ->> 'pending_per_session')::bigint, 9223372036854775807), "           \
  "coalesce(to_jsonb(store) ->> 'is_full' = 'true', false)"
/* The schema number is in the first columns, as text. Errors: SCHEMA_NEWER, STORE (too old). */
int pg_schema_check(const struct pg_place *place, const PGresult *result, int *ret_number,
                    struct tidings_error *error);
/* Counts the days that have partitions, and says whether keep_days has work; its result is text. */
extern const char pg_days_query[];
void pg_days_read(struct db *db, const PGresult *result);
/* There is a day for what ends now. */
bool pg_days_reach(const struct db *db);
/* Takes a connection that nobody uses, if it is time to do what is done once a day. */
bool pg_days_take(struct db *db, struct pg_conn *conn);
/* The end of that: the connection, which is idle again. NULL: none. Called with the lock. */
struct pg_conn *pg_days_give(struct db *db);
void pg_days_close(struct db *db);
/* -- clock.c ----------------------------------------------------------------------------------- */

void pg_clock_read(struct db *db, int64_t server_ms);
void pg_clock_take(struct db *db, const PGresult *result);
bool pg_clock_is_old(const struct db *db);

/* -- wake.c, alive.c --------------------------------------------------------------------------- */

int pg_wake_init(struct db *db);
void pg_wake_finish(struct db *db);
/* How a process and an owner are named in the database. */
enum { PG_OWNER_BYTES = 36 };
void pg_owner_bytes(const struct owner *owner, uint8_t bytes[PG_OWNER_BYTES]);
/* The number of its lock: of the owner and the schema, since locks are the database's. */
int64_t pg_alive_lock(const char *schema, const uint8_t bytes[PG_OWNER_BYTES]);
/* Takes the lock that says that this process is alive, if it is not held already. */
int pg_alive_begin(struct db *db, store_deadline deadline, struct tidings_error *error);
void pg_alive_end(struct db *db);

#endif
