/* SPDX-License-Identifier: MIT
 *
 * flow/recall.c: a report withdraws notifications that are leased. Their carrier may still go out
 * or not: the delivery's row records the withdrawal, and it takes effect on a rollback only.
 */
#include <stdlib.h>

#include "common/error.h"
#include "flow/internal.h"
#include "session/ledger.h"

struct recall {
  struct op *op;
  const struct produced *produced;
  struct delivery delivery;
  struct disposition *dispositions; /* of the items found so far */
  size_t count, capacity, fresh;
};

static int no_memory_to_recall(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory for what was reported");
}

static bool is_recalled(const struct delivery *delivery, uint64_t n) {
  for (size_t i = 0; i < delivery->recalled_count; i++) {
    if (delivery->recalled[i].first <= n && n <= delivery->recalled[i].last) return true;
  }
  return false;
}

static int keep_disposition(struct recall *recall, const struct disposition *disposition) {
  if (recall->count == recall->capacity) {
    struct disposition *larger =
        arena_enlarge(&recall->op->arena, recall->dispositions, &recall->capacity, sizeof *larger);
    if (!larger) return TIDINGS_E_NOMEM;
    recall->dispositions = larger;
  }
  recall->dispositions[recall->count++] = *disposition;
  return 0;
}

static int look_at_item(void *context, const struct item *item) {
  struct recall *recall = context;
  const struct produced *produced = recall->produced;
  struct disposition disposition;
  if (is_recalled(&recall->delivery, item->n) ||
      !plan_withdrawal(item, 1, produced->withdraw_handle, produced->withdraw_reason,
                       produced->withdraws_critical, &disposition))
    return 0;
  recall->fresh++;
  return keep_disposition(recall, &disposition);
}

/* Adds the withdrawals that the row of the delivery has already. */
static int keep_recalled(struct recall *recall) {
  const struct delivery *delivery = &recall->delivery;
  int code = 0;
  for (size_t i = 0; i < delivery->recalled_count; i++) {
    const struct disposition_range *range = &delivery->recalled[i];
    for (uint64_t n = range->first; !code && n <= range->last; n++)
      code = keep_disposition(recall,
                              &(struct disposition){n, range->ref, range->outcome, range->reason});
  }
  return code;
}

static int by_number(const void *left, const void *right) {
  uint64_t a = ((const struct disposition *)left)->n, b = ((const struct disposition *)right)->n;
  return a < b ? -1 : a > b;
}

static int write_recalled(struct recall *recall, struct tidings_error *error) {
  struct op *op = recall->op;
  struct delivery *delivery = &recall->delivery;
  if (keep_recalled(recall)) return no_memory_to_recall(error);
  qsort(recall->dispositions, recall->count, sizeof *recall->dispositions, by_number);
  if (ledger_ranges(recall->dispositions, recall->count, &op->arena, &delivery->recalled,
                    &delivery->recalled_count))
    return no_memory_to_recall(error);
  return delivery_put(op->txn, op->session, delivery, error);
}

static int recall_from(struct recall *recall, uint64_t n, bool write, struct tidings_error *error) {
  struct op *op = recall->op;
  const struct delivery *delivery = &recall->delivery;
  int code =
      delivery_get_leased(op->txn, op->session, &op->head, n, &op->arena, &recall->delivery, error);
  if (code) return code;
  recall->count = recall->fresh = 0;
  for (size_t i = 0; !code && i < delivery->disposition_count; i++)
    code = item_scan(op->txn, op->session, delivery->dispositions[i].first,
                     delivery->dispositions[i].last, &op->arena, look_at_item, recall, error);
  if (code == TIDINGS_E_NOMEM) return no_memory_to_recall(error);
  return !code && write && recall->fresh ? write_recalled(recall, error) : code;
}

int recall_leased(struct op *op, const struct produced *produced, bool write, bool *ret_any,
                  struct tidings_error *error) {
  struct recall recall = {.op = op, .produced = produced};
  bool any = false;
  if (produced->withdraw_handle.len) {
    for (size_t i = 0; i < op->head.leased_count; i++) {
      int code = recall_from(&recall, op->head.leased[i], write, error);
      if (code) return code;
      any = any || recall.fresh;
    }
  }
  *ret_any = any;
  return 0;
}
