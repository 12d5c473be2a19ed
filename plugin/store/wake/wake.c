/* SPDX-License-Identifier: MIT
 *
 * store/wake/wake.c: what processes learn from each other besides rows. The engine does the work;
 * this file gives its functions the store's names.
 */
#include "store/wake/wake.h"

#include <pthread.h>

#include "store/db/remote.h"
#include "store/rows/rows.h"

const _Atomic uint32_t *store_changes(struct store *store, uint32_t session) {
  return db_changes(store->db, session);
}

int store_phase(const struct store *store, uint32_t session, uint64_t epoch, uint64_t *ret_word) {
  return db_phase(store->db, session, epoch, ret_word);
}

bool store_phase_set(struct store *store, uint32_t session, uint64_t epoch,
                     const struct owner *owner, unsigned phase) {
  return db_phase_set(store->db, session, epoch, owner, phase);
}

void store_phase_replace(struct store *store, uint32_t session, uint64_t epoch, uint64_t word,
                         int phase) {
  db_phase_replace(store->db, session, epoch, word, phase);
}

bool store_calls(struct store *store, const struct calls_of *whose, calls_visitor visit,
                 void *context) {
  return db_calls(store->db, whose, visit, context);
}

bool store_calls_any(const struct store *store, uint32_t session) {
  return db_calls_any(store->db, session);
}

void store_calls_forget(struct store *store, uint32_t session) {
  db_calls_forget(store->db, session);
}

bool store_is_of_one_machine(const struct store *store) {
  (void)store;
  return !db_remote;
}

void store_ring(struct store_txn *txn, uint32_t session, const struct owner *owner) {
  db_ring(txn->db, session, owner, (uintptr_t)pthread_self());
}

int store_wait(struct store *store, const struct owner *owner, uint32_t budget_ms, int *ret_fd,
               struct tidings_error *error) {
  return db_wait(store->db, owner, budget_ms, ret_fd, error);
}

bool store_waits(const struct store *store) { return db_waits(store->db); }
void store_wait_drain(struct store *store) { db_wait_drain(store->db); }
void store_wait_again(struct store *store) { db_wait_again(store->db); }

int store_rings_look(struct store *store, const struct owner *owner, store_deadline deadline,
                     const struct rings **ret_rings, struct tidings_error *error) {
  return db_rings_look(store->db, owner, deadline, ret_rings, error);
}

bool store_may_ring(struct store *store) { return db_may_ring(store->db); }

void store_rings_mark_seen(struct store *store) { db_rings_mark_seen(store->db); }
