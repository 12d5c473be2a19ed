/* SPDX-License-Identifier: MIT
 *
 * delivery/settle.c: the second phase: the host says what became of the carrier.
 */
#include <stdlib.h>

#include "base/error.h"
#include "delivery/deliver.h"
#include "delivery/ledger.h"

enum { RETENTION_ROWS = 64, REMEMBERED_LIMIT = 4096 };

static const char *state_name(uint8_t state) {
  return state == DELIVERY_COMMITTED ? "committed" : state == DELIVERY_ROLLED_BACK ? "rolled back" : "leased";
}

/* How many items a delivery ended: so many old ones may be forgotten with it, or history would outgrow its limit. */
static size_t item_count(const struct delivery *delivery) {
  uint64_t count = 0;
  for (size_t i = 0; i < delivery->fate_count; i++) count += delivery->fates[i].last - delivery->fates[i].first + 1;
  return (size_t)count;
}

static int end_lease(struct store_txn *txn, uint32_t session, struct head *head, struct delivery *delivery, uint32_t outcome,
                     int64_t now_ms, struct arena *arena, struct tidings_error *error) {
  bool commit = outcome == TIDINGS_COMMITTED;
  if (commit ? ledger_commit(head, delivery, arena) : ledger_roll_back(head, delivery, arena))
    return fail(error, TIDINGS_E_NOMEM, "no memory to settle");
  delivery->state = commit ? DELIVERY_COMMITTED : DELIVERY_ROLLED_BACK;
  delivery->settled_by = SETTLED_BY_HOST;
  delivery->settled_ms = now_ms;
  int code = commit ? retention_step(txn, session, head, now_ms, RETENTION_ROWS + item_count(delivery), error) : 0;
  if (!code) code = delivery_put(txn, session, delivery, error);
  if (!code) code = head_put(txn, session, head, error);
  return code;
}

/* Only the session's owner settles; but whoever says again what is so already is not contradicted. */
static int check_owner(const struct instance *instance, const struct head *head, uint64_t id, struct tidings_error *error) {
  if (owner_equal(&head->owner, &instance->owner)) return 0;
  if (!head->owner.pid) return fail(error, TIDINGS_E_CLOSED, "delivery %llu: its session was closed", (unsigned long long)id);
  return fail(error, TIDINGS_E_CLOSED,
              "delivery %llu: its session is pid %u's; what this host has in its transcript is named in session.resumed",
              (unsigned long long)id, head->owner.pid);
}

static int check_ended(uint64_t id, const struct delivery *delivery, struct tidings_error *error) {
  if (delivery->state == DELIVERY_LEASED) return 0;
  return fail(error, TIDINGS_E_STATE, "delivery %llu was %s already%s", (unsigned long long)id, state_name(delivery->state),
              delivery->state == DELIVERY_ROLLED_BACK ? ": what was in it is delivered again" : "");
}

static int get_delivery(struct store_txn *txn, uint32_t session, const struct head *head, uint64_t id, struct arena *arena,
                        struct delivery *ret_delivery, struct tidings_error *error) {
  uint64_t n = public_id_n(id);
  for (size_t i = 0; i < head->leased_count; i++) {
    if (head->leased[i] == n) return delivery_get_leased(txn, session, head, n, arena, ret_delivery, error);
  }
  int code = delivery_get(txn, session, n, arena, ret_delivery, error);
  return code == TIDINGS_E_NOT_FOUND ? fail(error, code, "delivery %llu: there is none of that id", (unsigned long long)id) : code;
}

static int settle_now(struct instance *instance, uint64_t id, uint32_t outcome, store_deadline deadline, struct tidings_error *error) {
  int64_t now_ms = instance_now(instance);
  uint32_t session = public_id_session(id);
  struct arena arena = ARENA_EMPTY;
  struct delivery delivery = {0};
  struct store_txn *txn;
  struct head head;
  bool ended = false;
  int code = decision_begin(instance, session, deadline, error);
  if (code) return code;
  code = store_write(instance->store, deadline, &txn, error);
  if (code) goto out;
  code = head_get(txn, session, &arena, &head, error);
  if (!code) code = get_delivery(txn, session, &head, id, &arena, &delivery, error);
  if (!code) {
    ended = delivery.state == (outcome == TIDINGS_COMMITTED ? DELIVERY_COMMITTED : DELIVERY_ROLLED_BACK);
    if (!ended) code = check_owner(instance, &head, id, error);
    if (!ended && !code) code = check_ended(id, &delivery, error);
    if (!ended && !code) code = end_lease(txn, session, &head, &delivery, outcome, now_ms, &arena, error);
  }
  if (!code && !ended) code = store_sweep(txn, session, now_ms, error);
  if (!code && !ended) code = store_commit(txn, error);
  else store_end(txn);
out:
  decision_end(instance, session);
  arena_free(&arena);
  return code;
}

/* -- settles that met BUSY --------------------------------------------------------------------------------------------------------------------- */

/* False: no room. */
static bool remember(struct instance *instance, uint64_t id, uint32_t outcome) {
  bool kept = true;
  pthread_mutex_lock(&instance->remembered_lock);
  if (instance->remembered_count == instance->remembered_capacity) {
    size_t capacity = instance->remembered_capacity ? instance->remembered_capacity * 2 : 16;
    struct remembered *larger = capacity > REMEMBERED_LIMIT ? NULL : realloc(instance->remembered, capacity * sizeof *larger);
    kept = larger != NULL;
    if (kept) {
      instance->remembered = larger;
      instance->remembered_capacity = capacity;
    }
  }
  if (kept) instance->remembered[instance->remembered_count++] = (struct remembered){id, outcome};
  atomic_store(&instance->any_remembered, instance->remembered_count > 0);
  pthread_mutex_unlock(&instance->remembered_lock);
  return kept;
}

static bool take_remembered(struct instance *instance, struct remembered *ret_remembered) {
  pthread_mutex_lock(&instance->remembered_lock);
  bool any = instance->remembered_count > 0;
  if (any) {
    *ret_remembered = instance->remembered[0];
    instance->remembered_count--;
    memmove(instance->remembered, instance->remembered + 1, instance->remembered_count * sizeof *instance->remembered);
  }
  atomic_store(&instance->any_remembered, instance->remembered_count > 0);
  pthread_mutex_unlock(&instance->remembered_lock);
  return any;
}

int settle_remembered(struct instance *instance, store_deadline deadline, struct tidings_error *error) {
  struct remembered remembered;
  while (atomic_load(&instance->any_remembered) && take_remembered(instance, &remembered)) {
    struct tidings_error why = {.size = sizeof why};
    int code = settle_now(instance, remembered.delivery_id, remembered.outcome, deadline, &why);
    if (code == TIDINGS_E_BUSY || code == TIDINGS_E_NOMEM || code == TIDINGS_E_STORE) {
      (void)remember(instance, remembered.delivery_id, remembered.outcome);
      return fail(error, code, "delivery %llu, whose settle was remembered: %s", (unsigned long long)remembered.delivery_id, why.text);
    }
    if (code) {
      struct tidings_span text = span_text(why.text);
      instance->host.log(instance->host.context, TIDINGS_LOG_WARNING, &text);
    }
  }
  return 0;
}

int settle(struct instance *instance, uint64_t delivery_id, uint32_t outcome, struct tidings_error *error) {
  store_deadline deadline = store_deadline_in(instance->budget_ms);
  (void)settle_remembered(instance, deadline, NULL);
  int code = settle_now(instance, delivery_id, outcome, deadline, error);
  if (code != TIDINGS_E_BUSY) return code;
  if (!remember(instance, delivery_id, outcome)) {
    return fail(error, TIDINGS_E_NOMEM,
                "delivery %llu: another writer holds the store, and there is no memory to remember this; settle again",
                (unsigned long long)delivery_id);
  }
  return fail(error, TIDINGS_E_BUSY, "delivery %llu: another writer holds the store; this is remembered and applied at the next call",
              (unsigned long long)delivery_id);
}
