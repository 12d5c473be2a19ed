/* SPDX-License-Identifier: MIT
 *
 * delivery/deliver.c: a hook at a delivery point, from what is pending to a leased reply. Planning works on a snapshot; the lease's
 * transaction makes sure that the session's head is still the one that was planned on, else it is planned again. Pushes that came since do
 * not matter: they ride on the next carrier.
 */
#include "delivery/deliver.h"

#include "base/error.h"
#include "delivery/attach.h"
#include "delivery/ledger.h"
#include "delivery/planning.h"
#include "delivery/reply.h"

enum { PLANS_BEFORE_BUSY = 8, RETENTION_ROWS = 64 };

struct point { /* one attempt at a delivery point */
  struct instance *instance;
  const struct carrier *carrier;
  const struct configuration *configuration;
  const struct settings *settings; /* the configuration's */
  struct session *session;
  int64_t now_ms;
  store_deadline deadline;
  struct arena arena;
  uint64_t generation, last; /* of the snapshot */
  uint64_t next_delivery;
  const struct item *items;
  size_t item_count;
};

enum step { STEP_DONE = 1, STEP_AGAIN = 2, STEP_ATTACH = 3 }; /* besides 0: go on, and negative: an error */

/* What is pending now. STEP_DONE: nothing, and the session is known to be quiet. */
static int look(struct point *point, struct tidings_error *error) {
  struct session *session = point->session;
  uint32_t bell = bell_read(session->bell); /* before the snapshot: what is committed after this shows in the bell */
  struct store_txn *txn;
  struct head head;
  int code = store_read(point->instance->store, &txn, error);
  if (code) return code;
  code = head_get(txn, session->number, &point->arena, &head, error);
  if (!code && !owner_equal(&head.owner, &point->instance->owner)) code = STEP_ATTACH;
  if (!code) code = item_last(txn, session->number, &head, &point->last, error);
  if (!code) code = item_pending(txn, session->number, &head, &point->arena, &point->items, &point->item_count, error);
  store_end(txn);
  if (code) return code;
  point->generation = head.generation;
  point->next_delivery = head.last_delivery + 1;
  if (point->item_count) return 0;
  atomic_store_explicit(&session->quiet, bell & 1 ? QUIET_UNKNOWN : bell, memory_order_relaxed);
  return STEP_DONE;
}

static int describe(struct point *point, const struct plan *plan, struct delivery *ret_delivery) {
  bool ends_now = !plan->line_count || point->instance->settle_on_return;
  *ret_delivery = (struct delivery){
      .n = point->next_delivery,
      .leased_ms = point->now_ms,
      .settled_ms = ends_now ? point->now_ms : 0,
      .state = ends_now ? DELIVERY_COMMITTED : DELIVERY_LEASED,
      .settled_by = ends_now ? SETTLED_ON_RETURN : SETTLED_BY_NOBODY,
      .carrier = plan->line_count ? (uint8_t)point->carrier->kind : (uint8_t)CARRIER_NONE,
      .source = point->carrier->source,
      .after = point->last,
      .call_id = point->carrier->call_id,
      .tool = point->carrier->tool,
  };
  return ledger_ranges(plan->fates, plan->fate_count, &point->arena, &ret_delivery->fates, &ret_delivery->fate_count);
}

/* Changes the head for the delivery; one that ends at once is committed in the same breath. */
static int book(struct point *point, struct store_txn *txn, struct head *head, struct delivery *delivery, struct tidings_error *error) {
  uint32_t session = point->session->number;
  int code = 0;
  delivery->epoch = head->epoch;
  head->last_delivery = delivery->n;
  int failed = ledger_lease(head, delivery, &point->arena);
  if (!failed && delivery->state == DELIVERY_COMMITTED) {
    failed = ledger_commit(head, delivery, &point->arena);
    if (!failed) code = retention_step(txn, session, head, point->now_ms, RETENTION_ROWS + delivery->fate_count, error);
  }
  if (failed) return fail(error, TIDINGS_E_NOMEM, "no memory to lease what is pending");
  if (!code) code = delivery_put(txn, session, delivery, error);
  if (!code) code = head_put(txn, session, head, error);
  return code;
}

/* The lease, durable when it returns 0. STEP_AGAIN: the head is not the one that was planned on. */
static int lease(struct point *point, struct delivery *delivery, struct tidings_error *error) {
  struct store_txn *txn;
  struct head head;
  int code = store_write(point->instance->store, point->deadline, &txn, error);
  if (code) return code;
  code = head_get(txn, point->session->number, &point->arena, &head, error);
  if (!code && head.generation != point->generation) code = STEP_AGAIN;
  if (!code && delivery->n > UINT32_MAX) code = fail(error, TIDINGS_E_FULL, "the session has had 4,294,967,295 deliveries; open another");
  if (!code) code = book(point, txn, &head, delivery, error);
  if (!code) code = store_sweep(txn, point->session->number, point->now_ms, error);
  if (!code) return store_commit(txn, error);
  store_end(txn);
  return code;
}

/* Everything that can fail for lack of memory comes before the lease: what is leased can be handed out. */
static int attempt(struct point *point, const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  struct delivery delivery;
  struct plan plan;
  int code = look(point, error);
  if (code) return code;
  const struct planning planning = {point->instance, point->settings, point->now_ms, &point->arena};
  if (planning_make(&planning, point->items, point->item_count, &plan) || describe(point, &plan, &delivery))
    return fail(error, TIDINGS_E_NOMEM, "no memory to plan a delivery");
  if (!plan.fate_count) return STEP_DONE;
  if (plan.line_count) {
    reply = reply_make(&point->arena);
    if (!reply) return fail(error, TIDINGS_E_NOMEM, "no memory for a reply");
    const struct showing showing = {.instance = point->instance,
                                    .configuration = point->configuration,
                                    .session = point->carrier->session,
                                    .session_number = point->session->number,
                                    .chat_request = point->carrier->kind == CARRIER_CHAT_REQUEST,
                                    .plan = &plan};
    code = reply_show(reply, &showing, &point->arena, error);
    if (code) return code;
    if (delivery.state == DELIVERY_LEASED) reply->delivery_id = public_id(point->session->number, delivery.n);
  }
  code = lease(point, &delivery, error);
  if (code) return code;
  if (reply) *ret_reply = reply_hand_out(reply, point->instance, &point->arena);
  return STEP_DONE;
}

static int attempts(struct point *point, const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct instance *instance = point->instance;
  for (int i = 0; i < PLANS_BEFORE_BUSY; i++) {
    int code = attempt(point, ret_reply, error);
    arena_free(&point->arena);
    if (code == STEP_DONE) return 0;
    if (code == STEP_ATTACH)
      code = session_attach(instance, point->carrier->session, point->now_ms, point->deadline, &point->session, error);
    if (code < 0) return code;
  }
  return fail(error, TIDINGS_E_BUSY, "the session keeps changing under another host's hands; nothing was lost, try again");
}

int deliver(struct instance *instance, const struct carrier *carrier, const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct point point = {
      .instance = instance, .carrier = carrier, .now_ms = instance_now(instance), .deadline = store_deadline_in(instance->budget_ms)};
  const struct tidings_reply *reply = NULL;
  int code = session_id_check(carrier->session, "session", TIDINGS_E_INVAL, error);
  if (code) return code;
  (void)settle_remembered(instance, point.deadline, NULL);
  code = session_known(instance, carrier->session, &point.session, error);
  if (!code && !point.session) code = session_attach(instance, carrier->session, point.now_ms, point.deadline, &point.session, error);
  if (code) return code;
  uint32_t number = point.session->number;
  code = decision_begin(instance, number, point.deadline, error);
  if (code) return code;
  struct configuration *configuration = configuration_use(instance);
  point.configuration = configuration;
  point.settings = &configuration->settings;
  code = attempts(&point, &reply, error);
  configuration_done(configuration);
  decision_end(instance, number);
  if (!code) *ret_reply = reply;
  return code;
}
