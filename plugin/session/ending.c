/* SPDX-License-Identifier: MIT
 */
#include "session/ending.h"

#include "common/error.h"
#include "session/ledger.h"

static int no_memory_to_end(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to end a delivery");
}

int ending_take_number(const struct op *op, struct delivery *delivery,
                       struct tidings_error *error) {
  enum { DRAWS = 8 };
  const struct tidings_host *host = &op->instance->host;
  uint64_t last = op->head.last_delivery;
  if (last >= UINT32_MAX)
    return fail(error, TIDINGS_E_FULL,
                "the session has had 4,294,967,295 deliveries; open another");
  delivery->n = last + 1;
  bool marks = !store_has_older_builds(op->instance->store);
  for (int i = 0; i < DRAWS && !delivery->mark && marks; i++) {
    uint32_t random = 0;
    if (host->random(host->context, &random, sizeof random))
      return fail(error, TIDINGS_E_INVAL, "host.random failed; a delivery's id needs it");
    delivery->mark = delivery_mark(random, delivery->n, last);
  }
  return 0;
}

static int write_end(struct op *op, struct delivery *delivery, enum delivery_state state,
                     enum delivery_settled_by by, struct tidings_error *error) {
  delivery->state = (uint8_t)state;
  delivery->settled_by = (uint8_t)by;
  delivery->settled_ms = op->now_ms;
  return delivery_put(op->txn, op->session, delivery, error);
}

/* Ends the items that were withdrawn while they were on this carrier, which did not go out. */
static int end_recalled(struct op *op, const struct delivery *delivery, enum delivery_settled_by by,
                        struct tidings_error *error) {
  size_t most = 0, count = 0;
  for (size_t i = 0; i < delivery->recalled_count; i++)
    most += (size_t)(delivery->recalled[i].last - delivery->recalled[i].first + 1);
  struct disposition *dispositions = arena_zalloc(&op->arena, most, sizeof *dispositions);
  if (!dispositions) return no_memory_to_end(error);
  for (size_t i = 0; i < delivery->recalled_count; i++) {
    const struct disposition_range *range = &delivery->recalled[i];
    for (uint64_t n = range->first; n <= range->last; n++)
      dispositions[count++] = (struct disposition){n, range->ref, range->outcome, range->reason};
  }
  return ending_remove(op, dispositions, count, by, error);
}

int ending_resolve(struct op *op, struct delivery *deliveries, const bool *commits, size_t count,
                   enum delivery_settled_by by, struct tidings_error *error) {
  int code = 0;
  if (ledger_end(&op->head, deliveries, commits, count, &op->arena)) return no_memory_to_end(error);
  for (size_t i = 0; !code && i < count; i++) {
    enum delivery_state state = commits[i] ? DELIVERY_COMMITTED : DELIVERY_ROLLED_BACK;
    code = write_end(op, &deliveries[i], state, by, error);
    if (!code && !commits[i]) code = end_recalled(op, &deliveries[i], by, error);
  }
  return code;
}

int ending_commit(struct op *op, struct delivery *delivery, enum delivery_settled_by by,
                  struct tidings_error *error) {
  return ending_resolve(op, delivery, &(const bool){true}, 1, by, error);
}

int ending_roll_back(struct op *op, struct delivery *delivery, enum delivery_settled_by by,
                     struct tidings_error *error) {
  return ending_resolve(op, delivery, &(const bool){false}, 1, by, error);
}

int ending_remove(struct op *op, const struct disposition *dispositions, size_t count,
                  enum delivery_settled_by by, struct tidings_error *error) {
  struct head *head = &op->head;
  struct delivery delivery = {
      .carrier = CARRIER_NONE, .epoch = head->epoch, .leased_ms = op->now_ms};
  if (!count) return 0;
  int code = ending_take_number(op, &delivery, error);
  if (!code) code = item_last(op->txn, op->session, head, &delivery.after, error);
  if (code) return code;
  if (ledger_ranges(dispositions, count, &op->arena, &delivery.dispositions,
                    &delivery.disposition_count) ||
      ledger_lease(head, &delivery, &op->arena))
    return no_memory_to_end(error);
  head->last_delivery = delivery.n;
  code = delivery_add(op->txn, op->session, &delivery, error);
  return code ? code : ending_commit(op, &delivery, by, error);
}
