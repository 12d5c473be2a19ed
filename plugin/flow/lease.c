/* SPDX-License-Identifier: MIT
 *
 * flow/lease.c: the durable lease: from a plan to the delivery's row. If the host dies before it
 * settles, the lease stays in the store, and the next host that attaches to the session ends it.
 */
#include "common/error.h"
#include "flow/internal.h"
#include "render/render.h"
#include "session/ending.h"
#include "session/ledger.h"
#include "session/reply.h"

enum { RETENTION_ROWS = 64 };

bool lease_is_shown(const struct delivering *delivering, const struct plan *plan) {
  return plan->line_count || delivering->carried_count || delivering->carrier->message_count;
}

static int no_memory_to_lease(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to lease what is pending");
}

int lease_describe(struct op *op, const struct delivering *delivering, const struct plan *plan,
                   struct delivery *ret_delivery, struct tidings_error *error) {
  const struct carrier *carrier = delivering->carrier;
  bool shown = lease_is_shown(delivering, plan),
       ends_now = !shown || op->instance->settle_on_return;
  *ret_delivery = (struct delivery){
      .leased_ms = op->now_ms,
      .settled_ms = ends_now ? op->now_ms : 0,
      .state = ends_now ? DELIVERY_COMMITTED : DELIVERY_LEASED,
      .settled_by = ends_now ? SETTLED_ON_RETURN : SETTLED_BY_NOBODY,
      .carrier = shown ? (uint8_t)carrier->kind : (uint8_t)CARRIER_NONE,
      .source = carrier->source,
      .after = delivering->last,
      .call_id = carrier->call_id,
      .tool = carrier->tool,
      .messages = delivering->carried,
      .message_count = delivering->carried_count,
  };
  if (ledger_ranges(plan->dispositions, plan->disposition_count, &op->arena,
                    &ret_delivery->dispositions, &ret_delivery->disposition_count))
    return no_memory_to_lease(error);
  return ending_take_number(op, ret_delivery, error);
}

/* Changes op's head for the delivery; one that ends at once is committed in the same transaction.
 */
static int write_delivery(struct op *op, struct delivery *delivery, struct tidings_error *error) {
  struct head *head = &op->head;
  int code = 0;
  delivery->epoch = head->epoch;
  head->last_delivery = delivery->n;
  int failed = ledger_lease(head, delivery, &op->arena);
  if (!failed && delivery->state == DELIVERY_COMMITTED) {
    failed = ledger_commit(head, delivery, &op->arena);
    if (!failed)
      code = retention_step(op->txn, op->session, head, op->now_ms,
                            RETENTION_ROWS + delivery->disposition_count, delivery->dispositions,
                            delivery->disposition_count, error);
  }
  if (failed) return no_memory_to_lease(error);
  return code ? code : delivery_add(op->txn, op->session, delivery, error);
}

/* Writes the run as the step left it in the snapshot; the head is still the same. */
static int write_run(struct op *op, struct delivering *delivering, const struct plan *plan,
                     struct tidings_error *error) {
  bool chat = delivering->carrier->kind == CARRIER_CHAT_REQUEST, changed;
  struct stored_run *stored = &delivering->stored;
  if (plan->line_count)
    stored->turns.run.newest_asking = 0; /* an item that stays pending may ask again */
  return stored_run_save(op, stored, chat ? TURNS_CHAT_REQUEST : TURNS_TOOL_RESULT, false, &changed,
                         error);
}

/* Notes which delivery said the preamble, because its rollback takes that back. */
static void remember_preamble(struct op *op, const struct plan *plan, uint64_t delivery) {
  if (!plan->line_count || op->head.preamble) return;
  if (render_has_preamble(op->settings->format) && !reply_is_bare(op)) op->head.preamble = delivery;
}

static int write_rows(struct op *op, struct delivering *delivering, const struct plan *plan,
                      struct delivery *delivery, struct tidings_error *error) {
  int code = 0;
  remember_preamble(op, plan, delivery->n);
  if (delivery->disposition_count || delivery->carrier != CARRIER_NONE)
    code = write_delivery(op, delivery, error);
  if (!code) code = write_run(op, delivering, plan, error);
  if (!code) code = op_put_head(op, error);
  return code ? code : store_sweep(op->txn, op->session, op->now_ms, error);
}

int lease_write(struct op *op, struct delivering *delivering, const struct plan *plan,
                struct delivery *delivery, bool *ret_outdated, struct tidings_error *error) {
  const struct phase_read planned = op->read;
  int code = op_write_as_read(op, error);
  if (!code) code = op_get_head(op, error);
  if (code) return code;
  *ret_outdated = !store_mark_holds(op->txn, &op->head, &delivering->planned_on);
  op->read = planned; /* the run is written as it was planned */
  if (!*ret_outdated) code = write_rows(op, delivering, plan, delivery, error);
  return code || *ret_outdated ? code : op_commit_as_read(op, ret_outdated, error);
}
