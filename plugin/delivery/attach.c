/* SPDX-License-Identifier: MIT
 *
 * delivery/attach.c: see attach.h.
 */
#include "delivery/attach.h"

#include "base/error.h"
#include "delivery/ledger.h"

static bool is_named(const struct session_event *opening, uint64_t id) {
  for (size_t i = 0; opening && i < opening->delivery_count; i++) {
    if (opening->deliveries[i] == id) return true;
  }
  return false;
}

/* Ends every lease: the named ones as committed, the others as rolled back. */
static int resolve_leases(struct store_txn *txn, uint32_t session, struct head *head, const struct session_event *opening, int64_t now_ms,
                          struct arena *arena, struct tidings_error *error) {
  const uint64_t *leased = head->leased;
  size_t count = head->leased_count;
  for (size_t i = 0; i < count; i++) {
    struct delivery delivery;
    int code = delivery_get_leased(txn, session, head, leased[i], arena, &delivery, error);
    if (code) return code;
    bool named = is_named(opening, public_id(session, delivery.n));
    int failed = named ? ledger_commit(head, &delivery, arena) : ledger_roll_back(head, &delivery, arena);
    if (failed) return fail(error, TIDINGS_E_NOMEM, "no memory to recover what was leased");
    delivery.state = named ? DELIVERY_COMMITTED : DELIVERY_ROLLED_BACK;
    delivery.settled_by = named ? SETTLED_BY_RESUME : SETTLED_BY_RECOVERY;
    delivery.settled_ms = now_ms;
    code = delivery_put(txn, session, &delivery, error);
    if (code) return code;
  }
  return 0;
}

int attach(struct instance *instance, struct store_txn *txn, uint32_t session, struct head *head, const struct session_event *opening,
           int64_t now_ms, struct arena *arena, bool *ret_changed, struct tidings_error *error) {
  bool mine = owner_equal(&head->owner, &instance->owner);
  bool changed = !mine;
  if (!mine && owner_alive(&head->owner) && !(opening && opening->takeover)) {
    return fail(error, TIDINGS_E_BUSY, "the session is owned by a running host, pid %u; end that, or open the session with takeover",
                head->owner.pid);
  }
  if (!mine) {
    head->epoch++;
    head->owner = instance->owner;
    head->attached_ms = now_ms;
    head->closed_ms = 0;
    head->cwd = head->host = span_of(NULL, 0);
  }
  if (!mine || (opening && opening->has_deliveries)) {
    int code = resolve_leases(txn, session, head, opening, now_ms, arena, error);
    if (code) return code;
    changed = true;
  }
  if (opening && (!span_equal(head->cwd, opening->cwd) || !span_equal(head->host, opening->host))) {
    head->cwd = opening->cwd;
    head->host = opening->host;
    changed = true;
  }
  *ret_changed = changed;
  return 0;
}

static struct session *remember(struct instance *instance, struct tidings_span id, uint32_t number, struct tidings_error *error) {
  struct session *session = session_table_add(&instance->sessions, id, number, store_bell(instance->store, number));
  if (!session) (void)fail(error, TIDINGS_E_NOMEM, "no memory for a session");
  return session;
}

int session_known(struct instance *instance, struct tidings_span id, struct session **ret_session, struct tidings_error *error) {
  struct session *session = session_table_find(&instance->sessions, id);
  struct store_txn *txn;
  uint32_t number;
  if (!session) {
    int code = store_read(instance->store, &txn, error);
    if (code) return code;
    code = session_find(txn, id, &number, error);
    store_end(txn);
    if (code) return code;
    if (number && !(session = remember(instance, id, number, error))) return TIDINGS_E_NOMEM;
  }
  *ret_session = session;
  return 0;
}

int session_attach(struct instance *instance, struct tidings_span id, int64_t now_ms, store_deadline deadline, struct session **ret_session,
                   struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn;
  struct session *session = NULL;
  struct head head;
  uint32_t number;
  bool changed;
  int code = store_write(instance->store, deadline, &txn, error);
  if (code) return code;
  code = session_add(txn, id, &number, error);
  if (!code) code = head_get(txn, number, &arena, &head, error);
  if (!code) code = attach(instance, txn, number, &head, NULL, now_ms, &arena, &changed, error);
  if (!code && changed) code = head_put(txn, number, &head, error);
  if (!code && changed) code = store_sweep(txn, number, now_ms, error);
  if (!code && changed) code = store_commit(txn, error);
  else store_end(txn);
  /* Not before: a number that was not stored is given to the next session that comes. */
  if (!code && !(session = remember(instance, id, number, error))) code = TIDINGS_E_NOMEM;
  arena_free(&arena);
  if (!code) *ret_session = session;
  return code;
}
