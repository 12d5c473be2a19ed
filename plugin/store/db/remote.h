/* SPDX-License-Identifier: MIT
 *
 * store/db/remote.h: the additional functions of an engine whose rows are on another machine. It
 * keeps the rows of a session that it has read, and asks whether they have changed. Pushes take no
 * lock of the session and wait in an inbox. The engine deletes old history by itself. Its tables
 * have columns for some facts about sessions, which the store passes to it. Functions that return a
 * plain int return 0 or the engine's error.
 */
#ifndef STORE_DB_REMOTE_H
#define STORE_DB_REMOTE_H

#include "store/db/db.h"

/* The part of a session's head that the engine's tables have columns for. */
struct db_noted {
  uint64_t waiting;   /* items that have not ended */
  int64_t closed_ms;  /* when it was closed, if nothing waits in it; 0: all of it is kept */
  struct owner owner; /* the host that owns the session */
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

  /* Call it before a write that depends on rows of session 0, or of a session that was not
   * declared: until the transaction ends, no other process writes to that session, and reads get
   * its newest rows. */
  int (*own)(struct db_txn *txn, uint32_t session);
  /* Opens a cursor that may leave out history. */
  int (*cursor_open_near)(struct db_txn *txn, struct db_cursor *ret_cursor);
  /* Would a row of this key be history, which the engine drops by itself? */
  bool (*is_history)(struct db_txn *txn, const struct db_key *key);

  /* Returns the version of the declared session that the snapshot has read; 0: none. */
  uint64_t (*stamp)(const struct db_txn *txn);
  /* Returns true if nothing was committed for the session since the version `stamp`, and nothing
   * waits in its inbox. False: there may be something, or the deadline passed before the answer
   * came. *ret_has_answer: there is something, and the answer is kept for the same call's
   * snapshot. */
  bool (*is_unchanged)(struct db *db, uint32_t session, uint64_t stamp, store_deadline deadline,
                       bool *ret_has_answer);

  /* -- sessions, in a write -------------------------------------------------------------------- */

  /* May rows be written that builds before layout 4 cannot read? */
  bool (*has_older_builds)(const struct db *db);
  /* Returns a number that changes when the store turns out to be another one, or may be older than
   * it was. */
  uint32_t (*lives)(const struct db *db);
  /* Gives the number to the session of this name. EEXIST: another session has the number; the
   * commit may find that, too. */
  int (*name_session)(struct db_txn *txn, uint32_t session, struct tidings_span name);
  void (*note)(struct db_txn *txn, uint32_t session, const struct db_noted *noted);
  /* Notes that the rows of a kind below the number `n` have ended, so that they are read seldom. */
  void (*ended_below)(struct db_txn *txn, uint32_t session, uint8_t kind, uint64_t n);
  /* Writes the declarations of the session's tools: [["tool","kind",…],…]; empty: there are none.
   */
  int (*note_tools)(struct db_txn *txn, uint32_t session, struct tidings_span json);

  /* Deletes a portion of all that the tables have of the session, history first, and adds it to
   * `counts`; *ret_done: nothing is left. `ended`: the session's last host, which is dead. EPERM:
   * another host has the session. */
  int (*forget)(struct db *db, struct tidings_span name, const struct owner *ended,
                store_deadline deadline, struct db_forgotten *counts, bool *ret_done);
  /* Counts what `forget` would delete in all. */
  int (*count_forgotten)(struct db *db, struct tidings_span name, store_deadline deadline,
                         struct db_forgotten *ret_counts);

  /* -- lists, in a snapshot that has declared nothing ------------------------------------------ */

  /* Reads at most `most` sessions after the number `after`, ordered by number, and calls `each`
   * with them until it returns an error, which is then returned. The next call discards what this
   * one has read. *ret_next: the number of the last session; 0: there are no more. */
  int (*bring_sessions)(struct db_txn *txn, uint32_t after, size_t most,
                        int (*each)(void *context, struct tidings_span name, uint32_t number),
                        void *context, uint32_t *ret_next, struct tidings_error *error);
  /* Counts the inbox of a session that bring_sessions has read; its pushes are not among the
   * rows. */
  struct db_waiting (*waiting_of)(struct db_txn *txn, uint32_t session);
  /* Calls `each` with figures of the whole store from its tables and the server: the name, what the
   * figure is about ("" if there is only one of that name), and the value. */
  int (*figures)(struct db_txn *txn, void (*each)(void *context, const struct db_figure *figure),
                 void *context);

  /* Calls `each` with the newest `most` pushes to this session that ended in the inbox, oldest
   * first, until it returns an error, which is then returned. */
  int (*dead_letters)(struct db_txn *txn, struct tidings_span name, size_t most,
                      int (*each)(void *context, const struct db_dead *dead), void *context,
                      struct tidings_error *error);

  /* -- the inbox ------------------------------------------------------------------------------ */

  /* When a transaction of the session begins, it puts what waits in the inbox among the rows, body
   * by body. A snapshot does so for itself only, and the next write has the bodies in the same
   * order. Has this transaction put any there, or has it any left to put? */
  bool (*inbox_waits)(const struct db_txn *txn);
  /* Returns the next body. Call it until the body is empty; otherwise no later transaction takes
   * over what this one has put among the rows. */
  int (*inbox_next)(struct db_txn *txn, struct tidings_span *ret_body);
  /* Says which pushes, of the first `most`, the snapshot has put among the rows. */
  struct db_places (*inbox_places)(const struct db_txn *txn, uint64_t most);
  /* Was a push with this id stored for the session since `since_ms`? The second function notes such
   * a push. */
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
