/* SPDX-License-Identifier: MIT
 *
 * flow/life.c: a session's life: opening, resuming and closing. The machine of turns decides what
 * these do to its run.
 */
#include "common/error.h"
#include "flow/internal.h"
#include "session/attach.h"
#include "session/ending.h"
#include "session/ledger.h"

static int no_memory_to_close(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to close the session");
}

/* -- opened, resumed, and whose event it is ---------------------------------------------------- */

/* A session with a damaged head can still be closed, so that a host can get rid of it. */
int life_get_head(struct op *op, const struct event *event, struct tidings_error *error) {
  if (event->type != EVENT_SESSION_CLOSED) return op_get_head(op, error);
  int code = op_get_head(op, NULL);
  if (code == TIDINGS_E_STORE) return head_anew(op->txn, op->session, &op->head, error);
  return code ? no_memory_to_close(error) : 0;
}

/* Anybody may send messages, and a host that does so becomes the owner if it can. All other events
 * may be sent by the owner alone. */
int life_attach(struct op *op, const struct event *event, struct decision *decision,
                struct tidings_error *error) {
  const struct owner *self = &op->instance->owner;
  bool mine = op_owns_session(op),
       alive = mine || store_owner_alive(op->instance->store, &op->head.owner);
  bool producer = op->instance->role == TIDINGS_ROLE_PRODUCER;
  decision->owned = alive;
  if (event->type == EVENT_SESSION_CLOSED) return 0;
  bool stranger = producer || (alive && !mine) || attach_was_taken_over(&op->head, self);
  if (event_is_for_all(event->type) && stranger) return 0;
  bool names = event->opening.opens || event->opening.rewound;
  int code = attach_in_write(op, names ? &event->opening : NULL, &decision->head_changed, error);
  if (!code) decision->owned = decision->answers = true;
  return code;
}

/* -- closed ------------------------------------------------------------------------------------ */

static int roll_back_leases(struct op *op, struct tidings_error *error) {
  struct head *head = &op->head;
  size_t count = head->leased_count;
  struct delivery *deliveries = arena_array(&op->arena, count, sizeof *deliveries);
  bool *commits = arena_zalloc(&op->arena, count, sizeof *commits);
  int code = 0;
  if (!deliveries || !commits) return no_memory_to_close(error);
  for (size_t i = 0; !code && i < count; i++) {
    struct delivery *delivery = &deliveries[i];
    code = delivery_get_leased(op->txn, op->session, head, head->leased[i], &op->arena, delivery,
                               error);
    if (code) break;
    delivery->state = DELIVERY_ROLLED_BACK;
    delivery->settled_by = SETTLED_BY_RECOVERY;
    delivery->settled_ms = op->now_ms;
    code = delivery_put(op->txn, op->session, delivery, error);
  }
  if (!code && ledger_end(head, deliveries, commits, count, &op->arena))
    code = no_memory_to_close(error);
  return code;
}

/* Ends all pending items in one delivery that shows nothing. */
static int close_items(struct op *op, struct tidings_error *error) {
  struct head *head = &op->head;
  struct delivery closing = {.carrier = CARRIER_CLOSED,
                             .state = DELIVERY_COMMITTED,
                             .settled_by = SETTLED_BY_HOST,
                             .epoch = head->epoch,
                             .leased_ms = op->now_ms,
                             .settled_ms = op->now_ms};
  struct item *items;
  size_t count;
  int code = ending_take_number(op, &closing, error);
  if (!code) code = item_last(op->txn, op->session, head, &closing.after, error);
  if (!code)
    code = item_pending_copied(op->txn, op->session, head, &op->arena, &items, &count, error);
  if (code) return code;
  struct disposition *dispositions = arena_zalloc(&op->arena, count, sizeof *dispositions);
  if (!dispositions) return no_memory_to_close(error);
  for (size_t i = 0; i < count; i++)
    dispositions[i] = (struct disposition){
        .n = items[i].n, .outcome = OUTCOME_CLOSED, .reason = REASON_SESSION_CLOSED};
  if (ledger_ranges(dispositions, count, &op->arena, &closing.dispositions,
                    &closing.disposition_count) ||
      ledger_lease(head, &closing, &op->arena) || ledger_commit(head, &closing, &op->arena))
    return no_memory_to_close(error);
  head->last_delivery = closing.n;
  head->floor = closing.after; /* no number is given out again when all items are forgotten */
  head->watermark = closing.after + 1;
  head->taken_count = 0;
  return delivery_add(op->txn, op->session, &closing, error);
}

int life_close(struct op *op, struct tidings_error *error) {
  static const struct memory nothing = {0};
  static const struct declarations none = {NULL, 0};
  struct head *head = &op->head;
  if (!op_owns_session(op) && store_owner_alive(op->instance->store, &head->owner)) {
    return fail(error, TIDINGS_E_OWNED,
                "the session is owned by a running host, pid %u; only that host may "
                "close it",
                head->owner.pid);
  }
  int code = roll_back_leases(op, error);
  if (!code) code = close_items(op, error);
  if (!code) code = memory_put(op->txn, op->session, &nothing, error);
  if (!code) code = tools_put(op->txn, op->session, &none, error);
  if (code) return code;
  memset(&head->owner, 0, sizeof head->owner);
  head->former_count = 0;
  head->preamble = 0;
  head->cwd = head->host = span_of(NULL, 0);
  head->closed_ms = op->now_ms ? op->now_ms : 1;
  return 0;
}
