/* SPDX-License-Identifier: MIT
 *
 * store/forget/forget.c: deletes one session. It deletes the history in portions, by the rules for
 * a full disk, and the session is sound after each portion. If a host opens the session meanwhile,
 * the session stays, with less history. The last commit deletes the other rows, the head and the
 * name. After that, a process that still has the session's number has to look the name up again:
 * session_check_scope.
 */
#include "store/forget/forget.h"

#include <errno.h>
#include <inttypes.h>

#include "common/error.h"
#include "store/forget/retention.h"

enum { PORTION_ROWS = 1000, PORTION_MS = 10000 };

struct forgetting {
  struct store *store;
  struct tidings_span name;
  struct db_forgotten gone;
};

static void count_row(struct db_forgotten *counts, uint8_t kind) {
  counts->rows++;
  counts->notifications += kind == ROW_ITEM;
  counts->deliveries += kind == ROW_DELIVERY;
  counts->messages += kind == ROW_MESSAGE;
}

/* -- who has it -------------------------------------------------------------------------------- */

static int refuse_owned(struct store *store, struct tidings_span name, const struct owner *owner,
                        struct tidings_error *error) {
  char machine[OWNER_MACHINE_BYTES];
  if (!owner->pid || !db_owner_alive(store->db, owner)) return 0;
  db_owner_machine(store->db, owner, machine);
  return fail(error, TIDINGS_E_STATE,
              "session %s has a host that runs, pid %" PRIu32 "%s%s; end that host, or close the "
              "session, first",
              quote(name).text, owner->pid, machine[0] ? " on " : "", machine);
}

/* Finds a session and its head. *ret_session 0: there is none. */
static int find_with_head(struct store_txn *txn, struct tidings_span name, struct arena *arena,
                          uint32_t *ret_session, struct head *ret_head,
                          struct tidings_error *error) {
  int code = session_find(txn, name, ret_session, error);
  return code ? code : head_get(txn, *ret_session, arena, ret_head, error);
}

static int find_unowned(struct store_txn *txn, struct tidings_span name, struct arena *arena,
                        uint32_t *ret_session, struct head *ret_head, struct tidings_error *error) {
  int code = find_with_head(txn, name, arena, ret_session, ret_head, error);
  return code ? code : refuse_owned(txn->store, name, &ret_head->owner, error);
}

/* -- in a folder ------------------------------------------------------------------------------- */

/* Deletes a portion of the history, however young it is, but keeps the newest rows of each kind.
 * Returns 0 or the engine's error. */
static int forget_history(struct visit *visit, size_t *ret_count) {
  visit->may_look = SIZE_MAX;
  visit->may_forget = PORTION_ROWS;
  int rc = visit_begin(visit);
  if (rc) return rc;
  for (size_t rule = 0; !rc && rule < RETENTION_RULES; rule++) {
    uint64_t n = 0;
    bool done;
    visit->everything = rule == RETENTION_DEDUP;
    rc = visit_rows(visit, rule, &n, &done);
  }
  visit_end(visit);
  *ret_count = PORTION_ROWS - visit->may_forget;
  return rc;
}

static int delete_and_count(struct visit *visit, enum row_kind kind, uint64_t n) {
  count_row(visit->context, (uint8_t)kind);
  return visit_delete(visit, kind, n);
}

static int forget_portion(struct forgetting *what, struct store_txn *txn, size_t *ret_count,
                          struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  uint32_t session = 0;
  struct head head;
  struct visit visit = {.txn = txn,
                        .head = &head,
                        .arena = &arena,
                        .forget = delete_and_count,
                        .context = &what->gone,
                        .pressed = true};
  int rc = 0, code = find_unowned(txn, what->name, &arena, &session, &head, error);
  if (!code && session) code = item_last(txn, session, &head, &visit.last, error);
  if (!code && session) {
    visit.session = session;
    head.floor = visit.last;
    rc = forget_history(&visit, ret_count);
    if (!rc && *ret_count) code = head_put(txn, session, &head, error);
  }
  arena_free(&arena);
  return rc ? db_failed(error, rc, "forget a session's history") : code;
}

/* Deletes portions until there is nothing left that forget_history deletes. */
static int forget_portions(struct forgetting *what, struct tidings_error *error) {
  const struct db_scope scope = {.name = what->name};
  size_t count = PORTION_ROWS;
  int code = 0;
  while (!code && count) {
    struct store_txn *txn = NULL;
    count = 0;
    code = store_write(what->store, &scope, store_deadline_in(PORTION_MS), &txn, error);
    if (!code) code = forget_portion(what, txn, &count, error);
    if (!code && count) code = store_commit(txn, error);
    else store_end(txn);
  }
  return code;
}

/* Deletes all rows of the session, which are few by now, or only counts them if `deletes` is false.
 * Returns 0 or the engine's error. */
static int take_rows(struct store_txn *txn, uint32_t session, bool deletes,
                     struct db_forgotten *counts) {
  struct db_key first = row_key(session, 0, 0);
  struct db_cursor cursor;
  int rc = db_cursor_open(txn->db, &cursor);
  if (rc) return rc;
  rc = db_cursor_seek(&cursor, &first);
  while (!rc && cursor.key && row_key_session(cursor.key) == session) {
    count_row(counts, cursor.key[4]);
    if (deletes) rc = db_cursor_delete(&cursor);
    if (!rc) rc = db_cursor_next(&cursor);
  }
  db_cursor_close(&cursor);
  if (!rc) counts->rows++; /* the row of its name */
  return rc;
}

static int forget_rest(struct forgetting *what, struct store_txn *txn,
                       struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  uint32_t session = 0;
  struct head head;
  int rc = 0, code = find_unowned(txn, what->name, &arena, &session, &head, error);
  arena_free(&arena);
  if (code || !session) return code;
  rc = take_rows(txn, session, true, &what->gone);
  if (rc) return db_failed(error, rc, "forget a session");
  if (db_touch(txn->db, session))
    return fail(error, TIDINGS_E_STORE, "too many sessions in one transaction");
  return session_delete_name(txn, what->name, error);
}

static int forget_here(struct forgetting *what, struct tidings_error *error) {
  const struct db_scope scope = {.name = what->name};
  struct store_txn *txn = NULL;
  int code = forget_portions(what, error);
  if (!code) code = store_write(what->store, &scope, store_deadline_in(PORTION_MS), &txn, error);
  if (!code) code = forget_rest(what, txn, error);
  if (!code) return store_commit(txn, error);
  store_end(txn);
  return code;
}

/* -- in any store ------------------------------------------------------------------------------ */

/* Checks in a snapshot that the session exists and that its host is dead. */
static int look(struct forgetting *what, bool counts, struct owner *ret_owner,
                struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn = NULL;
  uint32_t session = 0;
  struct head head = {0};
  int code = store_read(what->store, NULL, store_deadline_in(PORTION_MS), &txn, error), rc = 0;
  if (!code) code = find_with_head(txn, what->name, &arena, &session, &head, error);
  if (!code && !session && !db_remote)
    code = fail(error, TIDINGS_E_NOT_FOUND, "store %s has no session %s", db_place(what->store->db),
                quote(what->name).text);
  if (!code && counts && !db_remote) rc = take_rows(txn, session, false, &what->gone);
  if (!code) *ret_owner = head.owner;
  arena_free(&arena);
  store_end(txn); /* db_owner_alive may need the connection */
  if (rc) return db_failed(error, rc, "count a session's rows");
  return code ? code : refuse_owned(what->store, what->name, ret_owner, error);
}

/* Deletes or counts a session in an engine that keeps more of a session than rows. */
static int forget_there(struct forgetting *what, bool dry_run, const struct owner *ended,
                        struct tidings_error *error) {
  struct db *db = what->store->db;
  bool done = dry_run;
  int rc = dry_run ? db_remote->count_forgotten(db, what->name, store_deadline_in(PORTION_MS),
                                                &what->gone)
                   : 0;
  while (!rc && !done)
    rc =
        db_remote->forget(db, what->name, ended, store_deadline_in(PORTION_MS), &what->gone, &done);
  if (rc == EPERM)
    return fail(error, TIDINGS_E_STATE,
                "session %s was opened by a host meanwhile; end that host, or close the session, "
                "first",
                quote(what->name).text);
  if (rc) return db_failed(error, rc, "forget a session");
  if (!what->gone.rows)
    return fail(error, TIDINGS_E_NOT_FOUND, "store %s has no session %s", db_place(db),
                quote(what->name).text);
  return 0;
}

int store_forget_session(struct store *store, struct tidings_span session, bool dry_run,
                         struct db_forgotten *ret_gone, struct tidings_error *error) {
  struct forgetting what = {.store = store, .name = session};
  struct owner owner = {.pid = 0};
  int code = look(&what, dry_run, &owner, error);
  if (!code && db_remote) code = forget_there(&what, dry_run, &owner, error);
  else if (!code && !dry_run) code = forget_here(&what, error);
  if (!code) *ret_gone = what.gone;
  return code;
}
