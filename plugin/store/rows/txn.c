/* SPDX-License-Identifier: MIT
 *
 * store/rows/txn.c: how a transaction on a store begins, is given up and committed.
 */
#include <errno.h>
#include <stdlib.h>

#include "store/rows/rows.h"

static int fold_inbox(struct store *store, const struct db_scope *scope, bool only_names,
                      store_deadline deadline, struct tidings_error *error);

static int check_begun(struct store_txn *txn, const struct db_scope *scope, store_deadline deadline,
                       struct store_txn **ret_txn, struct tidings_error *error) {
  struct store *store = txn->store;
  bool again = false;
  int code = meta_check(txn, error);
  if (!code) code = session_check_scope(txn, scope, error);
  if (!code) code = inbox_fold(txn, scope, &again, error);
  if (!code && !again) {
    *ret_txn = txn;
    return 0;
  }
  store_end(txn);
  if (!code) code = fold_inbox(store, scope, true, deadline, error);
  return code ? code : store_read(store, scope, deadline, ret_txn, error);
}

static struct store_txn *make_txn(struct store *store) {
  struct store_txn *txn = calloc(1, sizeof *txn);
  if (!txn) return NULL;
  txn->store = store;
  txn->db = &txn->own;
  return txn;
}

/* If the scope has a name and no number, returns a scope that also fetches the name's row. It is
 * built in `room`. */
static const struct db_scope *with_wanted(const struct db_scope *scope, struct db_scope *room) {
  if (!db_remote || (scope && (scope->session || !scope->name.len))) return scope;
  *room = scope ? *scope : (struct db_scope){.session = 0};
  room->prefetches = room->name.len > 0;
  if (room->prefetches) room->wanted = session_name_row(room->name);
  return room;
}

int store_read(struct store *store, const struct db_scope *scope, store_deadline deadline,
               struct store_txn **ret_txn, struct tidings_error *error) {
  struct store_txn *txn = make_txn(store);
  if (!txn) return db_failed(error, ENOMEM, "begin reading");
  struct db_scope room;
  int code = db_read(store->db, with_wanted(scope, &room), deadline, txn->db, error);
  if (!code) return check_begun(txn, scope, deadline, ret_txn, error);
  free(txn);
  return code;
}

uint64_t store_stamp(const struct store_txn *txn) {
  return db_remote ? db_remote->stamp(txn->db) : 0;
}

bool store_is_unchanged(struct store *store, uint32_t session, uint64_t stamp,
                        store_deadline deadline, bool *ret_has_answer) {
  *ret_has_answer = false;
  return db_remote && db_remote->is_unchanged(store->db, session, stamp, deadline, ret_has_answer);
}

bool store_may_be_stale(const struct store_txn *txn) { return txn->db->may_be_stale; }

int store_commit_as_read(struct store_txn *txn, bool *ret_outdated, struct tidings_error *error) {
  int code = inbox_finish(txn, error);
  if (code) db_end(txn->db);
  else code = db_commit(txn->db, error);
  *ret_outdated = txn->db->outdated;
  free(txn);
  return *ret_outdated ? 0 : code;
}

int store_commit(struct store_txn *txn, struct tidings_error *error) {
  int code = inbox_finish(txn, error);
  if (code) db_end(txn->db);
  else code = db_commit(txn->db, error);
  free(txn);
  return code;
}

static int begin_write(struct store *store, const struct db_scope *scope, bool only_names,
                       store_deadline deadline, struct store_txn **ret_txn,
                       struct tidings_error *error) {
  struct store_txn *txn = make_txn(store);
  if (!txn) return fail(error, TIDINGS_E_NOMEM, "no memory to write to the store");
  txn->writing = true;
  txn->only_names = only_names;
  struct db_scope room;
  int code = db_write(store->db, with_wanted(scope, &room), deadline, txn->db, error);
  if (!code) return check_begun(txn, scope, deadline, ret_txn, error);
  free(txn);
  return code;
}

int store_write(struct store *store, const struct db_scope *scope, store_deadline deadline,
                struct store_txn **ret_txn, struct tidings_error *error) {
  return begin_write(store, scope, false, deadline, ret_txn, error);
}

/* Begins and commits a write, in which a session that has only pushes gets its number. After that a
 * snapshot of it can be taken. `only_names`: its pushes stay in the inbox, because a read must not
 * take them. */
static int fold_inbox(struct store *store, const struct db_scope *scope, bool only_names,
                      store_deadline deadline, struct tidings_error *error) {
  struct store_txn *txn = NULL;
  int code = begin_write(store, scope, only_names, deadline, &txn, error);
  return txn ? store_commit(txn, error) : code;
}

struct taking_in {
  struct store *store;
  bool nameless;
  size_t count;
  store_deadline deadline;
  struct tidings_error *error;
};

static int take_in_one(void *context, struct tidings_span name) {
  struct taking_in *taking = context;
  const struct db_scope scope = {.name = name};
  taking->count++;
  return fold_inbox(taking->store, &scope, taking->nameless, taking->deadline, taking->error);
}

int store_take_in(struct store *store, bool nameless, store_deadline deadline,
                  struct tidings_error *error) {
  store_deadline until =
      nameless ? store_deadline_in((uint32_t)store_deadline_left_ms(deadline) / 2) : deadline;
  struct taking_in taking = {store, nameless, 0, until, error};
  int code = 0;
  bool again = db_remote;
  while (!code && again) {
    taking.count = 0;
    code = db_remote->inbox_sessions(store->db, nameless, until, take_in_one, &taking, error);
    again = nameless && taking.count && store_deadline_left_ms(until);
  }
  bool later = nameless && (code == TIDINGS_E_BUSY || code == TIDINGS_E_OUTCOME_UNKNOWN);
  return later ? 0 : code;
}

void store_end(struct store_txn *txn) {
  if (!txn) return;
  db_end(txn->db);
  free(txn);
}
