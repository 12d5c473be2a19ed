/* SPDX-License-Identifier: MIT
 *
 * store/rings.c: the counters that say which sessions rang. As with the bells, whoever commits makes them odd before and even after, under the
 * writer lock, so a writer that dies in between leaves an odd one behind: who sees it and gets the writer lock knows that nobody is in the midst
 * of a commit, and makes it even. So a ring is never lost, whenever its process is killed.
 */
#include <pthread.h>

#include "store/internal.h"

/* -- the side that commits ---------------------------------------------------------------------------------------------------------------- */

static void call_owner(struct store_txn *txn, const struct owner *owner) {
  if (txn->called_count > CALLED_OWNERS) return;
  for (size_t i = 0; i < txn->called_count; i++) {
    if (txn->called[i].pid == owner->pid && txn->called[i].start_time == owner->start_time) return;
  }
  if (txn->called_count < CALLED_OWNERS) {
    txn->called[txn->called_count].pid = owner->pid;
    txn->called[txn->called_count].start_time = owner->start_time;
  }
  txn->called_count++;
}

void ring_for(struct store_txn *txn, uint32_t session, const struct owner *owner, uintptr_t thread) {
  const struct owner *self = &txn->store->self;
  /* Who is of another boot or namespace is dead. */
  if (!owner->pid || owner->pid_namespace != self->pid_namespace || memcmp(owner->boot_id, self->boot_id, sizeof self->boot_id) != 0)
    return;
  (void)txn_touch(txn, session); /* which only fails where what changed the session has failed before */
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (txn->touched[i] == session) txn->ringing |= (uint64_t)1 << i;
  }
  if (thread != atomic_load_explicit(&txn->store->waiting_thread, memory_order_relaxed)) txn->rung_by_others = true;
  call_owner(txn, owner);
}

void store_ring(struct store_txn *txn, uint32_t session, const struct owner *owner) {
  ring_for(txn, session, owner, (uintptr_t)pthread_self());
}

void rings_begin(struct store_txn *txn) {
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (!(txn->ringing >> i & 1)) continue;
    _Atomic uint32_t *ring = &txn->store->shared.rings[txn->touched[i] % STORE_RINGS];
    uint32_t value = atomic_load(ring);
    if (value & 1) txn->rung_by_others = true; /* a dead writer's ring is in it */
    atomic_store(ring, value | 1);
  }
}

/* What the waiting thread rings itself, and nobody else since it last looked, is no news to it: its reply has it. */
void rings_end(struct store_txn *txn) {
  struct store *store = txn->store;
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (!(txn->ringing >> i & 1)) continue;
    uint32_t ring = txn->touched[i] % STORE_RINGS;
    uint32_t after = (atomic_load(&store->shared.rings[ring]) | 1) + 1, before = after - 2;
    if (!txn->rung_by_others) (void)atomic_compare_exchange_strong(&store->seen[ring], &before, after);
    atomic_store(&store->shared.rings[ring], after);
  }
}

/* -- the side that waits ------------------------------------------------------------------------------------------------------------------ */

/* Odd: somebody is just committing, and will call; or was killed. With the writer lock it is the latter, and can be mended. */
static uint32_t mend(struct store *store, _Atomic uint32_t *ring) {
  if (writer_try(store)) {
    uint32_t value = atomic_load(ring);
    if (value & 1) atomic_store(ring, value + 1);
    writer_unlock(store);
  }
  return atomic_load(ring);
}

bool rings_look(struct store *store, struct rings *ret_rings) {
  bool any = false;
  memset(ret_rings->moved, 0, sizeof ret_rings->moved);
  for (uint32_t i = 0; i < STORE_RINGS; i++) {
    uint32_t now = atomic_load(&store->shared.rings[i]);
    if (now & 1) now = mend(store, &store->shared.rings[i]);
    ret_rings->now[i] = now;
    if (now == atomic_load_explicit(&store->seen[i], memory_order_relaxed)) continue;
    ret_rings->moved[i / 64] |= (uint64_t)1 << (i % 64);
    any = true;
  }
  return any;
}

void rings_told(struct store *store, const struct rings *rings) {
  for (uint32_t i = 0; i < STORE_RINGS; i++) {
    if (ring_moved(rings, i)) atomic_store_explicit(&store->seen[i], rings->now[i], memory_order_relaxed);
  }
}
