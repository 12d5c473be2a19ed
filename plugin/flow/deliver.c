/* SPDX-License-Identifier: MIT
 *
 * flow/deliver.c: a hook at a delivery point, from what is pending to a leased reply. Planning
 * works on a snapshot; the lease's transaction makes sure that the session's head is still the one
 * that was planned on, else it is planned again. Pushes that came since do not matter: they ride on
 * the next carrier.
 */
#include "flow/deliver.h"

#include "common/error.h"
#include "session/attach.h"
#include "session/ledger.h"
#include "session/planning.h"
#include "session/reply.h"
#include "session/turning.h"

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
  struct store_txn *snapshot; /* open until all that is shown of the items has been copied: their
                                 text is its own */
  struct head head;
  uint64_t last;
  uint64_t next_delivery;
  struct item *items;
  size_t item_count;
  struct turning turning; /* loaded from the snapshot, if the carrier means anything to the run, or
                             a reply may come of it */
  bool steps;             /* the carrier has stepped the run */
  const uint64_t *carried;
  size_t carried_count;
  struct steered steered;
};

enum step {
  STEP_DONE = 1,
  STEP_AGAIN = 2,
  STEP_ATTACH = 3
}; /* besides 0: go on, and negative: an error */

static int no_memory(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to plan a delivery");
}

/* -- the run ----------------------------------------------------------------------------------- */

static bool names_messages(const struct point *point) { return point->carrier->message_count > 0; }

/* What the carrier does to the run, by the snapshot. */
static int step_run(struct point *point, struct store_txn *txn, struct tidings_error *error) {
  const struct carrier *carrier = point->carrier;
  bool chat = carrier->kind == CARRIER_CHAT_REQUEST;
  ptrdiff_t *named = arena_zalloc(&point->arena, carrier->message_count + 1, sizeof *named);
  point->turning = (struct turning){.instance = point->instance,
                                    .settings = point->settings,
                                    .txn = txn,
                                    .session = point->session->number,
                                    .head = &point->head,
                                    .arena = &point->arena,
                                    .now_ms = point->now_ms};
  if (!named) return no_memory(error);
  int code = turning_load(&point->turning, carrier->messages, carrier->message_count, named, error);
  if (code || !point->steps) return code;
  struct turns_input input =
      turning_input(&point->turning, chat ? TURNS_CHAT_REQUEST : TURNS_TOOL_RESULT);
  input.ids = carrier->messages;
  input.named = named;
  input.named_count = carrier->message_count;
  input.delivery = point->next_delivery;
  input.steering = true;
  input.fires_at_once = point->instance->settle_on_return;
  input.owned = true;
  input.last_item = point->last;
  code = turns_step(&point->turning.turns, &input, error);
  if (!code && turning_carried(&point->turning, point->next_delivery, &point->carried,
                               &point->carried_count))
    code = no_memory(error);
  return code || chat
             ? code
             : turning_steered(&point->turning, point->next_delivery, &point->steered, error);
}

/* -- looking ----------------------------------------------------------------------------------- */

static int look_in(struct point *point, struct store_txn *txn, struct tidings_error *error) {
  struct session *session = point->session;
  struct head *head = &point->head;
  int code = head_get(txn, session->number, &point->arena, head, error);
  if (!code && !owner_equal(&head->owner, &point->instance->owner)) code = STEP_ATTACH;
  if (!code) code = item_last(txn, session->number, head, &point->last, error);
  if (!code)
    code = item_pending(txn, session->number, head, &point->arena, &point->items,
                        &point->item_count, error);
  if (code) return code;
  point->next_delivery = head->last_delivery + 1;
  point->steps = names_messages(point) || (point->carrier->kind == CARRIER_TOOL_RESULT &&
                                           turns_minds_tool_result(&head->run));
  return point->steps || point->item_count ? step_run(point, txn, error) : STEP_DONE;
}

/* What is pending now. STEP_DONE: nothing, and the session is quiet if its run does not wait for a
 * tool result. */
static int look(struct point *point, struct tidings_error *error) {
  struct session *session = point->session;
  uint32_t bell = bell_read(
      session->bell); /* before the snapshot: what is committed after this shows in the bell */
  int code = store_read(point->instance->store, &point->snapshot, error);
  if (code) return code;
  code = look_in(point, point->snapshot, error);
  point->turning.txn = NULL;
  if (code == STEP_DONE && !turns_minds_tool_result(&point->head.run))
    atomic_store_explicit(&session->quiet, bell & 1 ? QUIET_UNKNOWN : bell, memory_order_relaxed);
  return code;
}

static void end_snapshot(struct point *point) {
  store_end(point->snapshot);
  point->snapshot = NULL;
}

/* -- leasing ----------------------------------------------------------------------------------- */

/* Does the host get something that it has to settle? */
static bool carries(const struct point *point, const struct plan *plan) {
  return plan->line_count || point->carried_count || names_messages(point);
}

static int describe(struct point *point, const struct plan *plan, struct delivery *ret_delivery) {
  bool carried = carries(point, plan), ends_now = !carried || point->instance->settle_on_return;
  *ret_delivery = (struct delivery){
      .n = point->next_delivery,
      .leased_ms = point->now_ms,
      .settled_ms = ends_now ? point->now_ms : 0,
      .state = ends_now ? DELIVERY_COMMITTED : DELIVERY_LEASED,
      .settled_by = ends_now ? SETTLED_ON_RETURN : SETTLED_BY_NOBODY,
      .carrier = carried ? (uint8_t)point->carrier->kind : (uint8_t)CARRIER_NONE,
      .source = point->carrier->source,
      .after = point->last,
      .call_id = point->carrier->call_id,
      .tool = point->carrier->tool,
      .messages = point->carried,
      .message_count = point->carried_count,
  };
  return ledger_ranges(plan->fates, plan->fate_count, &point->arena, &ret_delivery->fates,
                       &ret_delivery->fate_count);
}

/* Changes the head for the delivery; one that ends at once is committed in the same breath. */
static int book(struct point *point, struct store_txn *txn, struct head *head,
                struct delivery *delivery, struct tidings_error *error) {
  uint32_t session = point->session->number;
  int code = 0;
  delivery->epoch = head->epoch;
  head->last_delivery = delivery->n;
  int failed = ledger_lease(head, delivery, &point->arena);
  if (!failed && delivery->state == DELIVERY_COMMITTED) {
    failed = ledger_commit(head, delivery, &point->arena);
    if (!failed)
      code = retention_step(txn, session, head, point->now_ms,
                            RETENTION_ROWS + delivery->fate_count, error);
  }
  if (failed) return fail(error, TIDINGS_E_NOMEM, "no memory to lease what is pending");
  return code ? code : delivery_put(txn, session, delivery, error);
}

/* The run as the snapshot's step left it: the head has not changed since. */
static int save_run(struct point *point, struct store_txn *txn, struct head *head,
                    const struct plan *plan, struct tidings_error *error) {
  bool changed;
  if (plan->line_count) point->turning.turns.run.asked = 0; /* what stays pending may ask again */
  point->turning.txn = txn;
  point->turning.head = head;
  return turning_save(&point->turning,
                      point->carrier->kind == CARRIER_CHAT_REQUEST ? TURNS_CHAT_REQUEST
                                                                   : TURNS_TOOL_RESULT,
                      false, &changed, error);
}

/* The lease, durable when it returns 0. STEP_AGAIN: the head is not the one that was planned on. */
static int lease(struct point *point, const struct plan *plan, struct delivery *delivery,
                 struct tidings_error *error) {
  struct store_txn *txn;
  struct head head;
  int code = store_write(point->instance->store, point->deadline, &txn, error);
  if (code) return code;
  code = head_get(txn, point->session->number, &point->arena, &head, error);
  if (!code && head.generation != point->head.generation) code = STEP_AGAIN;
  if (!code && delivery->n > UINT32_MAX)
    code =
        fail(error, TIDINGS_E_FULL, "the session has had 4,294,967,295 deliveries; open another");
  if (!code && (delivery->fate_count || delivery->carrier != CARRIER_NONE))
    code = book(point, txn, &head, delivery, error);
  if (!code) code = save_run(point, txn, &head, plan, error);
  if (!code) code = head_put(txn, point->session->number, &head, error);
  if (!code) code = store_sweep(txn, point->session->number, point->now_ms, error);
  if (!code) return store_commit(txn, error);
  store_end(txn);
  return code;
}

/* -- the reply --------------------------------------------------------------------------------- */

static int make_reply(struct point *point, const struct plan *plan, const struct delivery *delivery,
                      struct tidings_reply **ret_reply, struct tidings_error *error) {
  const struct turns *turns = &point->turning.turns;
  struct tidings_reply *reply = reply_make(&point->arena);
  if (!reply || reply_status(reply, &turns->run, turns, &point->arena) ||
      reply_steered(reply, point->steered.ids, point->steered.count, &point->arena))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a reply");
  reply_wake(reply, point->instance, point->settings, &turns->run, point->now_ms);
  const struct showing showing = {.instance = point->instance,
                                  .configuration = point->configuration,
                                  .session = point->carrier->session,
                                  .session_number = point->session->number,
                                  .chat_request = point->carrier->kind == CARRIER_CHAT_REQUEST,
                                  .steered = point->steered.contents,
                                  .steered_count = point->steered.count,
                                  .plan = plan};
  int code = reply_show(reply, &showing, &point->arena, error);
  if (code) return code;
  if (delivery->state == DELIVERY_LEASED)
    reply->delivery_id = public_id(point->session->number, delivery->n);
  *ret_reply = reply;
  return 0;
}

/* Everything that can fail for lack of memory comes before the lease: what is leased can be handed
 * out. */
static int attempt(struct point *point, const struct tidings_reply **ret_reply,
                   struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  struct delivery delivery;
  struct plan plan;
  int code = look(point, error);
  if (code) return code;
  const struct run *run = &point->turning.turns.run;
  const struct planning planning = {.instance = point->instance,
                                    .settings = point->settings,
                                    .now_ms = point->now_ms,
                                    .arena = &point->arena,
                                    .pinned = run->kind == TURN_OF_SYSTEM ? run->system_item : 0};
  if (planning_make(&planning, point->items, point->item_count, &plan) ||
      describe(point, &plan, &delivery))
    return no_memory(error);
  if (!plan.fate_count && !point->steps) return STEP_DONE;
  if (carries(point, &plan)) code = make_reply(point, &plan, &delivery, &reply, error);
  end_snapshot(point);
  if (!code) code = lease(point, &plan, &delivery, error);
  if (code) return code;
  if (reply) *ret_reply = reply_hand_out(reply, point->instance, &point->arena);
  return STEP_DONE;
}

/* For another attempt: what the one before has found is void. */
static void forget(struct point *point) {
  end_snapshot(point);
  arena_free(&point->arena);
  point->items = NULL;
  point->item_count = point->carried_count = 0;
  point->steered = (struct steered){0};
  point->carried = NULL;
}

static int attempts(struct point *point, const struct tidings_reply **ret_reply,
                    struct tidings_error *error) {
  struct instance *instance = point->instance;
  for (int i = 0; i < PLANS_BEFORE_BUSY; i++) {
    int code = attempt(point, ret_reply, error);
    forget(point);
    if (code == STEP_DONE) return 0;
    if (code == STEP_ATTACH)
      code = session_attach(instance, point->settings, point->carrier->session, point->now_ms,
                            point->deadline, &point->session, error);
    if (code < 0) return code;
  }
  return fail(error, TIDINGS_E_BUSY,
              "the session keeps changing under another host's hands; nothing was lost, try again");
}

/* Attaches to a session that nobody has heard of yet; or that another process creates just now, and
 * may have left behind. */
static int find_session(struct point *point, struct tidings_error *error) {
  const struct carrier *carrier = point->carrier;
  int code = session_known(point->instance, carrier->session, &point->session, error);
  if (code || point->session) return code;
  return session_attach(point->instance, point->settings, carrier->session, point->now_ms,
                        point->deadline, &point->session, error);
}

int deliver(struct instance *instance, const struct carrier *carrier,
            const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct point point = {.instance = instance,
                        .carrier = carrier,
                        .now_ms = instance_now(instance),
                        .deadline = store_deadline_in(instance->budget_ms)};
  const struct tidings_reply *reply = NULL;
  int code = session_id_check(carrier->session, "session", TIDINGS_E_INVAL, error);
  if (code) return code;
  (void)settle_remembered(instance, point.deadline, NULL);
  struct configuration *configuration = configuration_use(instance);
  point.configuration = configuration;
  point.settings = &configuration->settings;
  code = find_session(&point, error);
  if (code) goto out;
  uint32_t number = point.session->number;
  code = instance_lock_session(instance, number, point.deadline, error);
  if (code) goto out;
  code = attempts(&point, &reply, error);
  instance_unlock_session(instance, number);
  if (!code) *ret_reply = reply;
out:
  configuration_done(configuration);
  return code;
}
