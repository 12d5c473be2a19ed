/* SPDX-License-Identifier: MIT
 *
 * store/wake/commit.c: a commit, and all who are to notice it: change counters and rings move
 * around it, and waiters are woken after it.
 */
#include <stdlib.h>

#include "store/wake/ring.h"

int store_commit(struct store_txn *txn, struct tidings_error *error) {
  struct store *store = txn->store;
  struct db *db = &store->db;
  const char *trouble;
  shared_changes_begin(db, txn->touched, txn->touched_count);
  if (txn->ringing) rings_begin(txn);
  int code = db_commit(&txn->db, &trouble, error);
  shared_changes_end(db, txn->touched, txn->touched_count);
  if (txn->ringing) rings_end(txn);
  shared_writer_unlock(db);
  if (txn->ringing) waiters_call(store, txn);
  if (trouble) { /* the host's log is called only now: no thread waits for us any more */
    db_log(db, code ? TIDINGS_LOG_ERROR : TIDINGS_LOG_WARNING, "store: a commit failed: %s; %s",
           trouble, code ? "it was refused" : "it was stored after all");
  }
  free(txn);
  return code;
}

const _Atomic uint32_t *store_changes(struct store *store, uint32_t session) {
  return &store->db.shared.changes[session % STORE_CHANGE_COUNTERS];
}
