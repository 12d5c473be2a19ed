/* SPDX-License-Identifier: MIT
 *
 * flow/deliver.c: a hook at a delivery point, from the pending notifications to a leased reply.
 * Planning works on a snapshot. The transaction of the lease checks that the session's head has not
 * changed since; if it has, the plan is made again. Pushes in between do not matter: they go with
 * the next carrier.
 */
#include "common/error.h"
#include "flow/internal.h"
#include "session/attach.h"
#include "session/reply.h"

enum { PLANS_BEFORE_BUSY = 8 };

enum deliver_next {
  DELIVER_GO_ON,
  DELIVER_DONE,
  DELIVER_AGAIN, /* the session has changed meanwhile */
  DELIVER_ATTACH /* this host does not own it */
};

static int no_memory_to_plan(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to plan a delivery");
}

/* -- the run ----------------------------------------------------------------------------------- */

static bool is_chat_request(const struct delivering *delivering) {
  return delivering->carrier->kind == CARRIER_CHAT_REQUEST;
}

static struct turns_input carrier_input(const struct op *op, const struct delivering *delivering,
                                        const ptrdiff_t *named, size_t steered_most) {
  struct turns_input input =
      stored_run_input(op, is_chat_request(delivering) ? TURNS_CHAT_REQUEST : TURNS_TOOL_RESULT);
  input.ids = delivering->carrier->messages;
  input.named = named;
  input.named_count = delivering->carrier->message_count;
  input.delivery = delivering->number;
  input.fires_at_once = op->instance->settle_on_return;
  input.owned = true;
  input.last_item = delivering->last;
  input.steered_most = steered_most;
  return input;
}

/* Has the step changed nothing that must be stored, because the steering messages had no room? A
 * new phase is stored only together with something else. */
static bool needs_no_write(struct op *op, const struct delivering *delivering) {
  const struct stored_run *stored = &delivering->stored;
  unsigned phase = stored->turns.run.phase;
  if (delivering->carrier->message_count || !stored_run_changes_only_phase(op, stored))
    return false;
  if (phase == op->head.run.phase) return true;
  return !delivering->pending.count && op_set_phase(op, phase);
}

/* Decides from the snapshot what the carrier does to the run. */
static int step_run(struct op *op, struct delivering *delivering, struct tidings_error *error) {
  const struct carrier *carrier = delivering->carrier;
  struct stored_run *stored = &delivering->stored;
  ptrdiff_t *named = arena_zalloc(&op->arena, carrier->message_count + 1, sizeof *named);
  if (!named) return no_memory_to_plan(error);
  size_t most = 0;
  int code = stored_run_load(op, stored, carrier->messages, carrier->message_count, named, error);
  if (code || !delivering->steps) return code;
  if (!is_chat_request(delivering))
    code = planning_steered(op, stored, planning_room(op, carrier->room), &most, error);
  if (code) return code;
  const struct turns_input input = carrier_input(op, delivering, named, most);
  code = turns_step(&stored->turns, &input, error);
  if (!code && stored_run_carried(op, stored, delivering->number, &delivering->carried,
                                  &delivering->carried_count))
    code = no_memory_to_plan(error);
  if (!code && needs_no_write(op, delivering)) delivering->steps = false;
  if (code || is_chat_request(delivering)) return code;
  return stored_run_steered(op, stored, delivering->number, &delivering->steered, error);
}

/* -- looking ----------------------------------------------------------------------------------- */

static int read_pending(struct op *op, struct delivering *delivering, struct tidings_error *error) {
  int code = item_last(op->txn, op->session, &op->head, &delivering->last, error);
  if (code) return code;
  delivering->planned_on = store_mark(op->txn, &op->head);
  return pending_look(op, delivering->last, !delivering->planned_on.places.count,
                      &delivering->pending, error);
}

static int look_in_snapshot(struct op *op, struct delivering *delivering,
                            enum deliver_next *ret_next, struct tidings_error *error) {
  const struct carrier *carrier = delivering->carrier;
  int code = op_get_head(op, error);
  if (code) return code;
  if (!op_owns_session(op)) {
    *ret_next = DELIVER_ATTACH;
    return 0;
  }
  code = read_pending(op, delivering, error);
  if (code) return code;
  delivering->number = op->head.last_delivery + 1;
  delivering->steps = carrier->message_count || (carrier->kind == CARRIER_TOOL_RESULT &&
                                                 turns_reacts_to_tool_result(&op->head.run));
  if (!delivering->steps && !delivering->pending.count) {
    *ret_next = DELIVER_DONE;
    return 0;
  }
  *ret_next = DELIVER_GO_ON;
  return step_run(op, delivering, error);
}

/* Notes that this carrier has looked, for the event that ends its call (step.c). */
static void note_look(const struct carrier *carrier, struct session *session, bool nothing) {
  bool holds = nothing && carrier->kind == CARRIER_TOOL_RESULT;
  atomic_store_explicit(&session->looked_ms, holds ? store_uptime_ms() : 0, memory_order_relaxed);
}

/* Reads what is pending now. DONE: nothing is pending, and the session is quiet unless its run
 * waits for a tool result. The snapshot stays open, because the items' text lies in it. */
static int look_for_pending(struct op *op, struct delivering *delivering,
                            enum deliver_next *ret_next, struct tidings_error *error) {
  struct session *session = op->known;
  /* This is read before the snapshot: what is committed after this moves the counter. */
  uint32_t changes = changes_read(session->changes);
  int code = op_read(op, error);
  if (!code) code = look_in_snapshot(op, delivering, ret_next, error);
  if (code) return code;
  note_look(delivering->carrier, session,
            *ret_next == DELIVER_DONE || (!delivering->steps && !delivering->pending.count));
  bool quiet = *ret_next == DELIVER_DONE && !turns_reacts_to_tool_result(&op->head.run);
  atomic_store_explicit(&session->quiet_stamp, quiet ? store_stamp(op->txn) : 0,
                        memory_order_relaxed);
  if (quiet)
    atomic_store_explicit(&session->quiet, changes & 1 ? QUIET_UNKNOWN : changes,
                          memory_order_relaxed);
  return 0;
}

/* -- the reply --------------------------------------------------------------------------------- */

static int make_reply(struct op *op, const struct delivering *delivering, const struct plan *plan,
                      struct delivery *delivery, struct tidings_reply **ret_reply,
                      struct tidings_error *error) {
  const struct turns *turns = &delivering->stored.turns;
  const struct steered *steered = &delivering->steered;
  struct tidings_reply *reply = reply_make(&op->arena);
  if (!reply || reply_steered(reply, steered->ids, steered->count, &op->arena))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a reply");
  int64_t next_ms = 0;
  int code = reply_status(reply, op, turns, error);
  /* Otherwise the turn's end or its next phase says when to wake. */
  if (!code && turns_reacts_to_urgency(&turns->run))
    code = pending_next_ms(op, &delivering->pending, plan, &next_ms, error);
  if (code) return code;
  reply_wake(reply, op, turns, next_ms);
  const struct showing showing = {.chat_request = is_chat_request(delivering),
                                  .bare = reply_is_bare(op),
                                  .steered = steered->contents,
                                  .steered_count = steered->count,
                                  .plan = plan};
  code = reply_show(reply, op, &showing, error);
  if (!code)
    code = reply_rendering(reply, op, &showing, planning_room(op, delivering->carrier->room),
                           &delivery->rendering, error);
  if (code) return code;
  if (delivery->state == DELIVERY_LEASED) reply->delivery_id = delivery_id(op->session, delivery);
  *ret_reply = reply;
  return 0;
}

/* -- attempts ---------------------------------------------------------------------------------- */

/* Does everything that can fail for lack of memory before the lease, so that every leased reply can
 * be handed out. */
static int lease_and_reply(struct op *op, struct delivering *delivering, const struct plan *plan,
                           enum deliver_next *ret_next, const struct tidings_reply **ret_reply,
                           struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  struct delivery delivery;
  bool outdated = false;
  int code = 0;
  code = lease_describe(op, delivering, plan, &delivery, error);
  if (!code && lease_is_shown(delivering, plan))
    code = make_reply(op, delivering, plan, &delivery, &reply, error);
  op_give_up(op); /* the snapshot: all that is shown has been copied */
  if (!code) code = lease_write(op, delivering, plan, &delivery, &outdated, error);
  if (reply && code == TIDINGS_E_OUTCOME_UNKNOWN && delivery.state == DELIVERY_LEASED)
    (void)remembered_add(&op->instance->remembered,
                         (struct remembered){.delivery_id = reply->delivery_id,
                                             .outcome = TIDINGS_ROLLED_BACK,
                                             .may_be_stale = true});
  if (code) return code;
  *ret_next = outdated ? DELIVER_AGAIN : DELIVER_DONE;
  if (reply && !outdated) *ret_reply = reply_hand_out(reply, op);
  return 0;
}

/* A notification that fits into no chat request must not ask for further ones. But it may if it
 * only waits for room in a later request, or for its time: all others that ask are on this one. */
static void note_unfit(const struct op *op, const struct delivering *delivering,
                       const struct plan *plan, struct run *run) {
  if (!is_chat_request(delivering) || plan->too_large != plan->deferred ||
      plan->too_large_newest <= run->unfit)
    return;
  run->unfit = plan->too_large_newest;
  run->asked_ms = op->now_ms;
}

static int attempt_delivery(struct op *op, struct delivering *delivering,
                            enum deliver_next *ret_next, const struct tidings_reply **ret_reply,
                            struct tidings_error *error) {
  struct run *run = &delivering->stored.turns.run;
  struct plan plan;
  int code = look_for_pending(op, delivering, ret_next, error);
  if (code || *ret_next != DELIVER_GO_ON) return code;
  const struct planned_carrier carrier = {.chat_request = is_chat_request(delivering),
                                          .pinned =
                                              run->kind == TURN_OF_SYSTEM ? run->system_item : 0,
                                          .room = planning_room(op, delivering->carrier->room),
                                          .steered = delivering->steered.contents,
                                          .steered_count = delivering->steered.count};
  code = pending_plan(op, &carrier, &delivering->pending, &plan, error);
  if (code) return code;
  note_unfit(op, delivering, &plan, run);
  if (!plan.disposition_count && !delivering->steps && turns_same_run(run, &op->head.run)) {
    *ret_next = DELIVER_DONE;
    return 0;
  }
  return lease_and_reply(op, delivering, &plan, ret_next, ret_reply, error);
}

static int attempt_until_done(struct op *op, const struct carrier *carrier,
                              const struct tidings_reply **ret_reply, struct tidings_error *error) {
  for (int i = 0; i < PLANS_BEFORE_BUSY; i++) {
    struct delivering delivering = {.carrier = carrier};
    enum deliver_next next = DELIVER_GO_ON;
    int code = attempt_delivery(op, &delivering, &next, ret_reply, error);
    op_give_up(op);
    arena_free(&op->arena); /* what this attempt found is void for another one */
    if (!code && next == DELIVER_ATTACH) code = attach_by_hook(op, error);
    if (code || next == DELIVER_DONE) return code;
  }
  return fail(error, TIDINGS_E_BUSY,
              "another host keeps changing the session; nothing was lost, try again");
}

/* Finds the session. The first hook call of a session attaches to it. */
static int find_session(struct op *op, struct tidings_error *error) {
  int code = attach_look_up(op, error);
  return code || op->known ? code : attach_by_hook(op, error);
}

/* Was the session quiet at the last look, and has nothing happened since? Used for a store that is
 * asked over a connection. *ret_has_answer: the store was asked, and the next snapshot can use its
 * answer. */
static bool is_quiet_still(struct instance *instance, const struct carrier *carrier,
                           struct session *known, store_deadline deadline, bool *ret_has_answer) {
  uint64_t stamp = known ? atomic_load_explicit(&known->quiet_stamp, memory_order_relaxed) : 0;
  bool asks = stamp && !carrier->message_count &&
              !atomic_load_explicit(&instance->remembered.any, memory_order_relaxed);
  *ret_has_answer = false;
  bool unchanged =
      asks && store_is_unchanged(instance->store, known->number, stamp, deadline, ret_has_answer);
  if (unchanged) note_look(carrier, known, true);
  return unchanged;
}

static int deliver_once(struct instance *instance, const struct carrier *carrier,
                        struct session *known, bool has_answer, store_deadline deadline,
                        const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct op op;
  op_begin(&op, instance, carrier->session, deadline);
  op.known = known;
  op.has_answer = has_answer;
  int code = find_session(&op, error);
  if (!code) code = op_lock(&op, error);
  if (!code) code = attempt_until_done(&op, carrier, ret_reply, error);
  op_end(&op);
  return code;
}

/* Tries once more if the session's number was void, because nothing was done then. */
int flow_deliver(struct instance *instance, const struct carrier *carrier, struct session *known,
                 const struct tidings_reply **ret_reply, struct tidings_error *error) {
  store_deadline deadline = instance_deadline(instance);
  const struct tidings_reply *reply = NULL;
  bool has_answer;
  if (is_quiet_still(instance, carrier, known, deadline, &has_answer)) {
    *ret_reply = NULL;
    return 0;
  }
  /* The id of a session that is known was checked when it became known. */
  int code = known ? 0 : session_id_check(carrier->session, "session", TIDINGS_E_INVAL, error);
  if (code) return code;
  (void)flow_settle_remembered(instance, deadline, NULL);
  uint32_t lives = store_lives(instance->store);
  code = deliver_once(instance, carrier, known, has_answer, deadline, &reply, error);
  if (code == TIDINGS_E_BUSY && store_lives(instance->store) != lives)
    code = deliver_once(instance, carrier, NULL, false, deadline, &reply, error);
  if (!code) *ret_reply = reply;
  return code;
}
