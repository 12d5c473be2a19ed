/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/phases.c: words in `shared` with the phase of each session's turn. A commit would
 * cost a sync of the disk; this costs a write to memory. A word has the session's number in its
 * upper half, then the epoch of the owner who wrote it, so that the next owner ignores what a dead
 * one left, then the phase + 1. 0: the word is free.
 */
#include "store/db/lmdb/engine.h"
#include "store/db/wake.h"

enum { SESSION_SHIFT = 32, EPOCH_SHIFT = 8, PHASE_MASK = 0xff };

static uint64_t word_of(uint32_t session, uint64_t epoch) {
  return (uint64_t)session << SESSION_SHIFT | (epoch << EPOCH_SHIFT & UINT32_MAX);
}

static _Atomic uint64_t *phase_word(const struct db *db, uint32_t session) {
  return &db->shared.phases[session % STORE_PHASES];
}

int db_phase(const struct db *db, uint32_t session, uint64_t epoch) {
  uint64_t word = atomic_load_explicit(phase_word(db, session), memory_order_relaxed);
  if (!word || (word & ~(uint64_t)PHASE_MASK) != word_of(session, epoch)) return -1;
  return (int)(word & PHASE_MASK) - 1;
}

bool db_phase_set(struct db *db, uint32_t session, uint64_t epoch, unsigned phase) {
  _Atomic uint64_t *at = phase_word(db, session);
  uint64_t word = atomic_load(at);
  do {
    if (word && word >> SESSION_SHIFT != session) return false;
  } while (!atomic_compare_exchange_weak(at, &word, word_of(session, epoch) | (phase + 1)));
  return true;
}

void db_phase_clear(struct db *db, uint32_t session) {
  _Atomic uint64_t *at = phase_word(db, session);
  uint64_t word = atomic_load(at);
  while (word >> SESSION_SHIFT == session && word && !atomic_compare_exchange_weak(at, &word, 0))
    continue;
}

const _Atomic uint32_t *db_changes(struct db *db, uint32_t session) {
  return &db->shared.changes[session % STORE_CHANGE_COUNTERS];
}
