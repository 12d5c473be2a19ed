/* SPDX-License-Identifier: MIT
 *
 * store/rows/txn.c: how a transaction on a store begins and is given up. wake/wake.c commits it.
 */
#include <errno.h>
#include <stdlib.h>

#include "store/rows/rows.h"

static int check_begun(struct store_txn *txn, struct store_txn **ret_txn,
                       struct tidings_error *error) {
  int code = meta_check(txn, error);
  if (code) store_end(txn);
  else *ret_txn = txn;
  return code;
}

static struct store_txn *make_txn(struct store *store) {
  struct store_txn *txn = calloc(1, sizeof *txn);
  if (!txn) return NULL;
  txn->store = store;
  txn->db = &txn->own;
  return txn;
}

int store_read(struct store *store, const struct db_scope *scope, struct store_txn **ret_txn,
               struct tidings_error *error) {
  struct store_txn *txn = make_txn(store);
  if (!txn) return db_failed(error, ENOMEM, "begin reading");
  int code = db_read(store->db, scope, txn->db, error);
  if (!code) return check_begun(txn, ret_txn, error);
  free(txn);
  return code;
}

int store_write(struct store *store, const struct db_scope *scope, store_deadline deadline,
                struct store_txn **ret_txn, struct tidings_error *error) {
  struct store_txn *txn = make_txn(store);
  if (!txn) return fail(error, TIDINGS_E_NOMEM, "no memory to write to the store");
  txn->writing = true;
  int code = db_write(store->db, scope, deadline, txn->db, error);
  if (!code) return check_begun(txn, ret_txn, error);
  free(txn);
  return code;
}

void store_end(struct store_txn *txn) {
  if (!txn) return;
  db_end(txn->db);
  free(txn);
}
