/* SPDX-License-Identifier: MIT
 *
 * store/db/remote.h: what an engine whose rows are on another machine does besides. It has read a
 * session's rows once and asks whether they have changed; pushes take no lock of the session and
 * wait in an inbox; it forgets what is old by itself; and it gets of sessions what its tables
 * have columns for. Functions that return a plain int return 0 or the engine's error.
 */
#ifndef STORE_DB_REMOTE_H
#define STORE_DB_REMOTE_H

#include "store/db/db.h"

/* The part of a session's head that the engine's tables have columns for. */
struct db_noted {
  uint64_t waiting;   /* items that have not ended */
  int64_t closed_ms;  /* when it was closed, if nothing waits in it; 0: all of it is kept */
  struct owner owner; /* whose it is */
};

/* Pushes that wait in the inbox, by level. */
enum { DB_LEVELS = 4 };
struct db_waiting {
  uint64_t levels[DB_LEVELS];
};

/* How much of a forgotten session has gone, or would go. */
struct db_forgotten {
  uint64_t rows, notifications, deliveries, messages; /* rows: of all kinds */
};

struct db_figure {
  const char *name;
  struct tidings_span of;
  uint64_t value;
};

/* A push that ended in the inbox. The texts are the engine's until `each` returns. */
struct db_dead {
  const char *outcome, *reason;
  int64_t ended_ms;
  struct tidings_span body;
};

struct db_remote {
  /* -- reading -------------------------------------------------------------------------------- */

  /* Before a write that depends on what it reads of session 0, or of one that was not declared: no
   * other process writes to it until this is over, and what is read is the newest. */
  int (*own)(struct db_txn *txn, uint32_t session);
  /* A cursor that may leave out what is history. */
  int (*cursor_open_near)(struct db_txn *txn, struct db_cursor *ret_cursor);
  /* Would a row of this key be history, which the engine drops by itself? */
  bool (*is_history)(struct db_txn *txn, const struct db_key *key);

  /* The version of the declared session that the snapshot read; 0: none. */
  uint64_t (*stamp)(const struct db_txn *txn);
  /* Nothing was committed for the session since then, and nothing waits in its inbox. False: there
   * may be something, or it could not be asked within the deadline. *ret_asked: there is, and the
   * answer is kept for the same call's snapshot. */
  bool (*is_unchanged)(struct db *db, uint32_t session, uint64_t stamp, store_deadline deadline,
                       bool *ret_has_answer);

  /* -- sessions, in a write -------------------------------------------------------------------- */

  /* May rows be written that builds before layout 4 cannot read? */
  bool (*has_older_builds)(const struct db *db);
  /* Moves when the store is found to be another one, or may be older than it was. */
  uint32_t (*lives)(const struct db *db);
  /* The session that has this number from now on. EEXIST: another one has it; the commit may find
   * that, too. */
  int (*name_session)(struct db_txn *txn, uint32_t session, struct tidings_span name);
  void (*note)(struct db_txn *txn, uint32_t session, const struct db_noted *noted);
  /* Rows of a kind with a number below `n` have ended: they are read seldom. */
  void (*ended_below)(struct db_txn *txn, uint32_t session, uint8_t kind, uint64_t n);
  /* Writes the declarations of the session's tools: [["tool","kind",…],…]; empty: there are none.
   */
  int (*note_tools)(struct db_txn *txn, uint32_t session, struct tidings_span json);

  /* Deletes a portion of all that the tables have of the session, its history first, and adds it to
   * `counts`; *ret_done: there is no more. `ended`: the host that it has had, if that is dead.
   * EPERM: another one has it. */
  int (*forget)(struct db *db, struct tidings_span name, const struct owner *ended,
                store_deadline deadline, struct db_forgotten *counts, bool *ret_done);
  /* Counts what that would be. */
  int (*count_forgotten)(struct db *db, struct tidings_span name, store_deadline deadline,
                         struct db_forgotten *ret_counts);

  /* -- lists, in a snapshot that has declared nothing ------------------------------------------ */

  /* Brings the sessions after the number `after`, at most `most`, by their numbers, and calls
   * `each` with them until it returns an error, which is then returned. With more than one call
   * what the one before brought is gone. *ret_next: the number of the last one; 0: there are no
   * more. */
  int (*bring_sessions)(struct db_txn *txn, uint32_t after, size_t most,
                        int (*each)(void *context, struct tidings_span name, uint32_t number),
                        void *context, uint32_t *ret_next, struct tidings_error *error);
  /* Counts the inbox of one of these, which is not among the rows. */
  struct db_waiting (*waiting_of)(struct db_txn *txn, uint32_t session);
  /* Figures of the whole store that its tables have, and the server: calls `each` with the name of
   * each, what it is of ("" if it is one) and its value. */
  int (*figures)(struct db_txn *txn, void (*each)(void *context, const struct db_figure *figure),
                 void *context);

  /* Calls `each` with the newest `most` pushes to this session that ended in the inbox, oldest
   * first, until it returns an error, which is then returned. */
  int (*dead_letters)(struct db_txn *txn, struct tidings_span name, size_t most,
                      int (*each)(void *context, const struct db_dead *dead), void *context,
                      struct tidings_error *error);

  /* -- the inbox ------------------------------------------------------------------------------ */

  /* At its begin a transaction of the session puts among the rows what waits in the inbox: each
   * body, in this order. A snapshot does that too, for itself; the write that follows has them in
   * the same order. Something of it is, or goes, among the rows: */
  bool (*inbox_waits)(const struct db_txn *txn);
  /* To be called until `ret_body` is empty; else no later transaction takes over what this one had
   * put among the rows. */
  int (*inbox_next)(struct db_txn *txn, struct tidings_span *ret_body);
  /* How many a snapshot has put among the rows, and which; of the first `most`. */
  struct db_places (*inbox_places)(const struct db_txn *txn, uint64_t most);
  /* Was a push with this id stored for the session since then? And: as if one had been. */
  int (*inbox_seen)(struct db_txn *txn, uint32_t session, struct tidings_span source,
                    struct tidings_span id, int64_t since_ms, bool *ret_seen);
  int (*inbox_note)(struct db_txn *txn, uint32_t session, struct tidings_span source,
                    struct tidings_span id, int64_t now_ms, int64_t keep_ms);
  /* Calls `each` with sessions for which something waits in the inbox, until it returns an error,
   * which is then returned. `nameless`: only those that no transaction has seen yet. */
  int (*inbox_sessions)(struct db *db, bool nameless, store_deadline deadline,
                        int (*each)(void *context, struct tidings_span name), void *context,
                        struct tidings_error *error);
};

#endif
