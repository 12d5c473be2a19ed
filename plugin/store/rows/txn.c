/* SPDX-License-Identifier: MIT
 *
 * store/rows/txn.c: how a transaction on a store begins and is given up. wake/commit.c commits it.
 */
#include <errno.h>
#include <stdlib.h>

#include "store/rows/rows.h"

int store_read(struct store *store, store_deadline deadline, struct store_txn **ret_txn,
               struct tidings_error *error) {
  struct store_txn *txn = calloc(1, sizeof *txn);
  if (!txn) return db_failed(error, ENOMEM, "begin reading");
  txn->store = store;
  int code = db_read(&store->db, deadline, &txn->db, error);
  if (code) {
    free(txn);
    return code;
  }
  code = meta_check(txn, error);
  if (code) {
    store_end(txn);
    return code;
  }
  *ret_txn = txn;
  return 0;
}

int txn_write_locked(struct store *store, store_deadline deadline, struct store_txn **ret_txn,
                     struct tidings_error *error) {
  struct store_txn *txn = calloc(1, sizeof *txn);
  int code = txn ? db_write(&store->db, deadline, &txn->db, error)
                 : fail(error, TIDINGS_E_NOMEM, "no memory to write to the store");
  if (code) {
    free(txn);
    shared_writer_unlock(&store->db);
    return code;
  }
  txn->store = store;
  txn->writing = true;
  code = meta_check(txn, error);
  if (code) {
    store_end(txn);
    return code;
  }
  *ret_txn = txn;
  return 0;
}

int store_write(struct store *store, store_deadline deadline, struct store_txn **ret_txn,
                struct tidings_error *error) {
  int code = shared_writer_lock(&store->db, deadline, error);
  return code ? code : txn_write_locked(store, deadline, ret_txn, error);
}

void store_end(struct store_txn *txn) {
  if (!txn) return;
  if (txn->writing) {
    db_abort(&txn->db);
    shared_writer_unlock(&txn->store->db);
  } else {
    db_read_end(&txn->db);
  }
  free(txn);
}

int txn_touch(struct store_txn *txn, uint32_t session) {
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (txn->touched[i] == session) return 0;
  }
  if (txn->touched_count == TOUCHED_SESSIONS) return -1;
  txn->touched[txn->touched_count++] = session;
  return 0;
}
