/* SPDX-License-Identifier: MIT
 *
 * store/db/txn.c: what a transaction notes for its commit, whatever the engine.
 */
#include "store/db/db.h"

int db_touch(struct db_txn *txn, uint32_t session) {
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (txn->touched[i] == session) return 0;
  }
  if (txn->touched_count == TOUCHED_SESSIONS) return -1;
  txn->touched[txn->touched_count++] = session;
  return 0;
}

void db_call(struct db_txn *txn, const struct owner *owner) {
  if (txn->called_count > CALLED_OWNERS) return;
  for (size_t i = 0; i < txn->called_count; i++) {
    if (owner_equal(&txn->called[i], owner)) return;
  }
  if (txn->called_count < CALLED_OWNERS) txn->called[txn->called_count] = *owner;
  txn->called_count++;
}
