/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/calls.c: keeps phases and running calls in the file `shared`, which all processes
 * of the store have mapped, so that they need no commit.
 */
#include "store/db/lmdb/engine.h"
#include "store/db/wake.h"

int db_phase(struct db *db, uint32_t session, uint64_t epoch, uint64_t *ret_word) {
  return places_phase(&db->shared.places, session, epoch, ret_word);
}

bool db_phase_set(struct db *db, uint32_t session, uint64_t epoch, const struct owner *owner,
                  unsigned phase) {
  (void)owner;
  return places_phase_set(&db->shared.places, session, epoch, phase);
}

void db_phase_replace(struct db *db, uint32_t session, uint64_t epoch, uint64_t word, int phase) {
  places_phase_replace(&db->shared.places, session, epoch, word, phase);
}

bool db_calls(struct db *db, const struct calls_of *whose, calls_visitor visit, void *context) {
  return places_calls(&db->shared.places, whose, visit, context);
}

bool db_calls_any(struct db *db, uint32_t session) {
  return places_calls_any(&db->shared.places, session);
}

/* A process that was stopped while it held the lock may still be writing. Its later writes are void
 * too. */
void db_calls_forget(struct db *db, uint32_t session) {
  places_calls_forget(&db->shared.places, session);
}
