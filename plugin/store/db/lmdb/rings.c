/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/rings.c: the counters that say which sessions rang. As with the change counters,
 * the committing process makes them odd before and even after, under the writer lock, so a writer
 * that dies in between leaves an odd counter. A process that sees an odd counter and gets the
 * writer lock knows that no commit is under way, and makes the counter even. No ring is lost,
 * whenever its process is killed, because the process also calls the waiting processes while the
 * counter is odd.
 */
#include <stdlib.h>

#include "common/error.h"
#include "store/db/lmdb/ring.h"

/* -- the side that commits --------------------------------------------------------------------- */

void db_ring(struct db_txn *txn, uint32_t session, const struct owner *owner, uintptr_t thread) {
  const struct owner *self = &txn->db->self;
  /* A process of another boot or PID namespace counts as dead. */
  if (!owner->pid || owner->pid_namespace != self->pid_namespace ||
      memcmp(owner->boot_id, self->boot_id, sizeof self->boot_id) != 0)
    return;
  /* This fails only if the call that changed the session has failed before. */
  (void)db_touch(txn, session);
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (txn->touched[i] == session) txn->ringing |= (uint64_t)1 << i;
  }
  if (thread != atomic_load_explicit(&txn->db->wake.waiting_thread, memory_order_relaxed))
    txn->rung_by_others = true;
  db_call(txn, owner);
}

/* Sets the ring before its group: a process that finds the group unchanged need not look at the
 * ring. */
static void set_ring(struct db *db, uint32_t ring, uint32_t value) {
  atomic_store(&db->shared.rings[ring], value);
  atomic_fetch_add(&db->shared.ring_groups[ring / RING_GROUP], 1);
}

void rings_begin(struct db_txn *txn) {
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (!(txn->ringing >> i & 1)) continue;
    uint32_t ring = txn->touched[i] % STORE_RINGS,
             value = atomic_load(&txn->db->shared.rings[ring]);
    if (value & 1) txn->rung_by_others = true; /* this counter also has the ring of a dead writer */
    set_ring(txn->db, ring, value | 1);
  }
}

/* The waiting thread need not see the rings that it made itself, because its reply says what to do.
 * So these count as seen, unless another thread has rung since it last looked. */
void rings_end(struct db_txn *txn) {
  struct db *db = txn->db;
  struct rings *known = txn->rung_by_others ? NULL : atomic_load(&db->wake.rings);
  for (size_t i = 0; i < txn->touched_count; i++) {
    if (!(txn->ringing >> i & 1)) continue;
    uint32_t ring = txn->touched[i] % STORE_RINGS;
    uint32_t after = (atomic_load(&db->shared.rings[ring]) | 1) + 1, before = after - 2;
    if (known) (void)atomic_compare_exchange_strong(&known->seen[ring], &before, after);
    set_ring(db, ring, after);
  }
}

/* -- the side that waits ----------------------------------------------------------------------- */

/* An odd counter means that a process is committing and will call, or that it was killed. If this
 * process gets the writer lock, the other was killed, and the counter is made even. */
static uint32_t repair_odd(struct db *db, uint32_t ring) {
  if (atomic_load(&db->shared.rings[ring]) & 1 && shared_writer_try(db)) {
    uint32_t value = atomic_load(&db->shared.rings[ring]);
    if (value & 1) set_ring(db, ring, value + 1);
    shared_writer_unlock(db);
  }
  return atomic_load(&db->shared.rings[ring]);
}

/* Marks all rings of the group as seen, unless one is odd. That one has to be looked at again,
 * although its group may never change, because its writer may be dead by then. */
static void group_mark_seen(struct rings *rings, uint32_t group) {
  if (!rings->odd[group]) rings->seen_groups[group] = rings->groups[group];
}

static void look_at_group(struct db *db, struct rings *rings, uint32_t group) {
  uint64_t odd = 0;
  for (uint32_t i = 0; i < RING_GROUP; i++) {
    uint32_t ring = group * RING_GROUP + i, now = atomic_load(&db->shared.rings[ring]);
    if (now & 1) now = repair_odd(db, ring);
    rings->now[ring] = now;
    if (now & 1) odd |= (uint64_t)1 << i;
    if (now != atomic_load_explicit(&rings->seen[ring], memory_order_relaxed))
      rings->moved[group] |= (uint64_t)1 << i;
  }
  atomic_store(&rings->odd[group], odd);
}

static struct rings *make_known(struct db *db) {
  struct rings *rings = atomic_load(&db->wake.rings);
  if (rings) return rings;
  rings = calloc(1, sizeof *rings);
  atomic_store(&db->wake.rings, rings);
  return rings;
}

int db_rings_look(struct db *db, const struct owner *owner, store_deadline deadline,
                  const struct rings **ret_rings, struct tidings_error *error) {
  (void)owner; /* sessions share the counters */
  (void)deadline;
  struct rings *rings = make_known(db);
  bool any = false;
  if (!rings) return fail(error, TIDINGS_E_NOMEM, "no memory to look for woken sessions");
  int code = env_check_linked(db, error);
  if (code) return code;
  for (uint32_t group = 0; group < RING_GROUPS; group++) {
    rings->groups[group] = atomic_load(&db->shared.ring_groups[group]);
    rings->moved[group] = 0;
    if (rings->groups[group] == rings->seen_groups[group]) atomic_store(&rings->odd[group], 0);
    else look_at_group(db, rings, group);
    if (rings->moved[group]) any = true;
    else group_mark_seen(rings, group);
  }
  *ret_rings = any ? rings : NULL;
  return 0;
}

bool db_may_ring(struct db *db) {
  struct rings *rings = atomic_load(&db->wake.rings);
  for (uint32_t group = 0; rings && group < RING_GROUPS; group++) {
    uint64_t odd = atomic_load_explicit(&rings->odd[group], memory_order_relaxed);
    for (uint32_t i = 0; odd && i < RING_GROUP; i++) {
      if (odd >> i & 1 && repair_odd(db, group * RING_GROUP + i) & 1) return true;
    }
  }
  return false;
}

void db_rings_mark_seen(struct db *db) {
  struct rings *rings = atomic_load(&db->wake.rings);
  for (uint32_t group = 0; group < RING_GROUPS; group++) {
    if (!rings->moved[group]) continue;
    for (uint32_t ring = group * RING_GROUP; ring < (group + 1) * RING_GROUP; ring++) {
      if (ring_moved(rings, ring))
        atomic_store_explicit(&rings->seen[ring], rings->now[ring], memory_order_relaxed);
    }
    group_mark_seen(rings, group);
  }
}
