/* SPDX-License-Identifier: MIT
 *
 * flow/settle.c: the second phase: the host says what became of the carrier. First the result of
 * the settlement is decided by reading; then it is written.
 */
#include "common/error.h"
#include "flow/internal.h"
#include "session/ending.h"
#include "session/outdated.h"
#include "store/wake/wake.h"

enum { RETENTION_ROWS = 64 };

struct settlement {
  uint64_t id; /* the delivery's public one */
  uint32_t outcome;
  bool answers; /* the host takes a reply */
  bool fences;  /* the commit that makes the delivery may still be on its way to the store: if it
                   has not arrived, it must have no effect later */
};

enum settle_verdict { SETTLE_ENDS_LEASE, SETTLE_ALREADY_ENDED };

/* -- deciding ---------------------------------------------------------------------------------- */

static uint8_t state_after(uint32_t outcome) {
  return outcome == TIDINGS_COMMITTED ? DELIVERY_COMMITTED : DELIVERY_ROLLED_BACK;
}

static const char *state_name(uint8_t state) {
  return state == DELIVERY_COMMITTED     ? "committed"
         : state == DELIVERY_ROLLED_BACK ? "rolled back"
         : state == DELIVERY_REWOUND     ? "rewound"
                                         : "leased";
}

static int refuse_closed(uint64_t id, struct tidings_error *error) {
  return fail(error, TIDINGS_E_CLOSED, "delivery %llu: its session was closed",
              (unsigned long long)id);
}

/* Only the session's owner may settle. Another process gets no error if it repeats what has been
 * settled already. */
static int check_owner(const struct op *op, uint64_t id, struct tidings_error *error) {
  if (op_owns_session(op)) return 0;
  if (!op->head.owner.pid) return refuse_closed(id, error);
  return fail(error, TIDINGS_E_CLOSED,
              "delivery %llu: pid %u owns its session; name the deliveries of this "
              "host's transcript in session.resumed",
              (unsigned long long)id, op->head.owner.pid);
}

/* Was the session closed while the delivery was leased? The closing is then a delivery of the same
 * host, at the time at which this one was rolled back. */
static int find_closing(struct op *op, const struct delivery *delivery, bool *ret_closed,
                        struct tidings_error *error) {
  struct delivery later = {.epoch = delivery->epoch};
  bool recovered =
      delivery->state == DELIVERY_ROLLED_BACK && delivery->settled_by == SETTLED_BY_RECOVERY;
  bool closed = false;
  uint64_t last = recovered ? op->head.last_delivery : 0;
  for (uint64_t n = delivery->n + 1; n <= last && !closed && later.epoch == delivery->epoch; n++) {
    int code = delivery_get(op->txn, op->session, n, &op->arena, &later, NULL);
    if (code == TIDINGS_E_NOMEM) return fail(error, code, "no memory to settle");
    closed = !code && later.carrier == CARRIER_CLOSED && later.epoch == delivery->epoch &&
             later.settled_ms == delivery->settled_ms;
  }
  *ret_closed = closed;
  return 0;
}

/* A host may have opened the session again since it was closed. */
static int check_open(struct op *op, const struct delivery *delivery, uint64_t id,
                      struct tidings_error *error) {
  bool closed = false;
  int code = find_closing(op, delivery, &closed, error);
  return code || !closed ? code : refuse_closed(id, error);
}

static int check_leased(uint64_t id, const struct delivery *delivery, struct tidings_error *error) {
  if (delivery->state == DELIVERY_LEASED) return 0;
  return fail(error, TIDINGS_E_STATE, "delivery %llu was %s already%s", (unsigned long long)id,
              state_name(delivery->state),
              delivery->state == DELIVERY_ROLLED_BACK ? ": what was in it is delivered again" : "");
}

/* Looks first among the leased deliveries, which are few and were read with the session. If a
 * delivery's row is damaged, its id is found by the row of the id. */
static int find_leased(struct op *op, uint64_t id, uint64_t n, struct delivery *ret_delivery,
                       bool *ret_found, struct tidings_error *error) {
  const struct head *head = &op->head;
  *ret_found = false;
  for (size_t i = 0; i < head->leased_count && !*ret_found; i++) {
    if (n && head->leased[i] != n) continue;
    int code = delivery_get_leased(op->txn, op->session, head, head->leased[i], &op->arena,
                                   ret_delivery, error);
    if (code) return code;
    *ret_found = n || delivery_id(op->session, ret_delivery) == id;
  }
  return 0;
}

static int get_delivery(struct op *op, uint64_t id, struct delivery *ret_delivery,
                        struct tidings_error *error) {
  bool found = false;
  uint64_t n = 0;
  int code = find_leased(op, id, 0, ret_delivery, &found, error);
  if (code || found) return code;
  code = delivery_find(op->txn, op->session, id, &n, error);
  if (!code && n) code = find_leased(op, id, n, ret_delivery, &found, error);
  if (code || found) return code;
  code = n ? delivery_get(op->txn, op->session, n, &op->arena, ret_delivery, error)
           : TIDINGS_E_NOT_FOUND;
  return code == TIDINGS_E_NOT_FOUND
             ? fail(error, code, "delivery %llu: no delivery has this id", (unsigned long long)id)
             : code;
}

/* Only reads: decides what the write will do. */
static int decide_settlement(struct op *op, const struct settlement *settlement,
                             struct delivery *ret_delivery, enum settle_verdict *ret_verdict,
                             struct tidings_error *error) {
  int code = op_get_head(op, error);
  if (!code) code = get_delivery(op, settlement->id, ret_delivery, error);
  if (code) return code;
  if (ret_delivery->state == state_after(settlement->outcome)) {
    *ret_verdict = SETTLE_ALREADY_ENDED;
    return 0;
  }
  code = check_owner(op, settlement->id, error);
  if (!code) code = check_open(op, ret_delivery, settlement->id, error);
  if (!code) code = check_leased(settlement->id, ret_delivery, error);
  if (!code) *ret_verdict = SETTLE_ENDS_LEASE;
  return code;
}

/* -- writing ----------------------------------------------------------------------------------- */

/* How many items the delivery ended. As many old ones may be forgotten in the same write, so that
 * history stays within its limit. */
static size_t count_items(const struct delivery *delivery) {
  uint64_t count = 0;
  for (size_t i = 0; i < delivery->disposition_count; i++)
    count += delivery->dispositions[i].last - delivery->dispositions[i].first + 1;
  return (size_t)count;
}

/* Messages that retention has forgotten are passed over. */
static size_t keep_known(ptrdiff_t *named, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (named[i] != NOT_A_MESSAGE) named[kept++] = named[i];
  }
  return kept;
}

static bool messages_alive(const struct run *run) {
  return run->last_message && run->first_message <= run->last_message;
}

/* Ends the lease in op's head and in the delivery's row. */
static int write_delivery_end(struct op *op, struct delivery *delivery, bool commit,
                              struct tidings_error *error) {
  if (!commit) {
    int code = ending_roll_back(op, delivery, SETTLED_BY_HOST, error);
    return code ? code : outdated_end(op, SETTLED_BY_HOST, error);
  }
  int code = ending_commit(op, delivery, SETTLED_BY_HOST, error);
  return code ? code
              : retention_step(op->txn, op->session, &op->head, op->now_ms,
                               RETENTION_ROWS + count_items(delivery), delivery->dispositions,
                               delivery->disposition_count, error);
}

/* Tells the run what became of the messages on the carrier. */
static int write_messages_end(struct op *op, struct decision *decision,
                              const struct delivery *delivery, bool commit,
                              struct tidings_error *error) {
  enum turns_event event = commit ? TURNS_COMMITTED : TURNS_ROLLED_BACK;
  bool changed;
  ptrdiff_t *named = arena_zalloc(&op->arena, delivery->message_count + 1, sizeof *named);
  if (!named) return fail(error, TIDINGS_E_NOMEM, "no memory to settle");
  int code = decision_load_numbers(op, decision, delivery->messages, delivery->message_count, named,
                                   error);
  if (code) return code;
  struct turns_input input = decision_input(op, decision, event);
  input.delivery = delivery->n;
  input.named = named;
  input.named_count = keep_known(named, delivery->message_count);
  code = turns_step(&decision->stored.turns, &input, error);
  if (!code && !commit) code = decision_look(op, decision, error);
  return code ? code : decision_save(op, decision, event, &changed, error);
}

static int write_settlement(struct op *op, const struct settlement *settlement,
                            struct delivery *delivery, struct decision *decision,
                            struct tidings_reply **ret_reply, struct tidings_error *error) {
  bool commit = settlement->outcome == TIDINGS_COMMITTED;
  int code = write_delivery_end(op, delivery, commit, error);
  if (code) return code;
  if (commit && !messages_alive(&op->head.run)) code = op_put_head(op, error);
  else code = write_messages_end(op, decision, delivery, commit, error);
  if (!code && decision_acts(decision)) code = decision_reply(op, decision, ret_reply, error);
  return code ? code : store_sweep(op->txn, op->session, op->now_ms, error);
}

/* Writes the head as it is: a delayed commit finds the session changed and is void. */
static int fence_off_lease(struct op *op, struct tidings_error *error) {
  int code = op_put_head(op, error);
  return code ? code : op_commit(op, error);
}

/* -- the call ---------------------------------------------------------------------------------- */

/* Does the settlement end the delivery and nothing else? Anything else may depend on waiting
 * messages. */
static bool only_ends(const struct op *op, const struct settlement *settlement) {
  return settlement->outcome == TIDINGS_COMMITTED && !messages_alive(&op->head.run);
}

/* *ret_again: what was read may be outdated, and nothing was written. */
static int settle_in_write(struct op *op, const struct settlement *settlement, bool *ret_again,
                           struct tidings_reply **ret_reply, struct tidings_error *error) {
  enum settle_verdict verdict = SETTLE_ALREADY_ENDED;
  struct delivery delivery = {0};
  bool may_be_stale = store_may_be_stale(op->txn);
  int code = decide_settlement(op, settlement, &delivery, &verdict, error);
  bool ends = !code && verdict == SETTLE_ENDS_LEASE;
  *ret_again = may_be_stale && !(ends && only_ends(op, settlement));
  if (*ret_again) return 0;
  if (code == TIDINGS_E_NOT_FOUND && settlement->fences && op_owns_session(op)) {
    int failed = fence_off_lease(op, error);
    return failed ? failed : code;
  }
  if (!ends) return code;
  struct decision decision = {.answers = settlement->answers, .owned = true, .head_changed = true};
  code = write_settlement(op, settlement, &delivery, &decision, ret_reply, error);
  if (!code) code = op_commit_as_read(op, ret_again, error);
  if (!*ret_again) decision_done(op, &decision, code);
  return code;
}

/* Tries first with what this process has already read of the session, which is usually enough. */
static int settle_in_writes(struct op *op, const struct settlement *settlement,
                            struct tidings_reply **ret_reply, struct tidings_error *error) {
  bool again = false;
  int code = op_write_as_read(op, error);
  if (!code) code = settle_in_write(op, settlement, &again, ret_reply, error);
  if (!again) return code;
  op_give_up(op);
  arena_free(&op->arena);
  *ret_reply = NULL;
  code = op_write(op, error);
  if (!code) code = settle_in_write(op, settlement, &again, ret_reply, error);
  return code || !again ? code
                        : fail(error, TIDINGS_E_BUSY,
                               "another process keeps changing the session; nothing was lost, try "
                               "again");
}

/* A reply is made only if there is something to do. */
static int settle_now(struct instance *instance, const struct settlement *settlement,
                      store_deadline deadline, const struct tidings_reply **ret_reply,
                      struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  struct op op;
  op_begin(&op, instance, span_of(NULL, 0), deadline);
  op.session = public_id_session(settlement->id);
  int code = op_lock(&op, error);
  if (!code) code = settle_in_writes(&op, settlement, &reply, error);
  if (!code && ret_reply) *ret_reply = reply ? reply_hand_out(reply, &op) : NULL;
  op_end(&op);
  return code;
}

/* May the settlement be tried again? Settling twice is harmless, whatever the first attempt did. */
static bool may_pass(int code) {
  return code == TIDINGS_E_BUSY || code == TIDINGS_E_NOMEM || code == TIDINGS_E_STORE ||
         code == TIDINGS_E_OUTCOME_UNKNOWN;
}

/* Nobody took the reply that this settle would have had, so the host must look at the session. */
static void name_settled(struct instance *instance, uint64_t delivery_id) {
  flow_wake_again(instance, public_id_session(delivery_id));
}

static int settle_one_remembered(struct instance *instance, const struct remembered *remembered,
                                 store_deadline deadline, struct tidings_error *error) {
  const struct settlement settlement = {.id = remembered->delivery_id,
                                        .outcome = remembered->outcome,
                                        .fences = remembered->may_be_stale};
  struct tidings_error why = {.size = sizeof why};
  int code = settle_now(instance, &settlement, deadline, NULL, &why);
  if (may_pass(code)) {
    (void)remembered_add(&instance->remembered, *remembered);
    return fail(error, code, "delivery %llu, whose settle was remembered: %s",
                (unsigned long long)remembered->delivery_id, why.text);
  }
  if (!code && remembered->outcome == TIDINGS_ROLLED_BACK)
    name_settled(instance, remembered->delivery_id);
  if (code && !(code == TIDINGS_E_NOT_FOUND && remembered->may_be_stale)) {
    struct tidings_span text = span_text(why.text);
    instance->host.log(instance->host.context, TIDINGS_LOG_WARNING, &text);
  }
  return 0;
}

int flow_settle_remembered(struct instance *instance, store_deadline deadline,
                           struct tidings_error *error) {
  struct remembered remembered;
  int code = 0;
  while (!code && remembered_take(&instance->remembered, &remembered))
    code = settle_one_remembered(instance, &remembered, deadline, error);
  return code;
}

/* The host gets no answer that says what to do, so the settle is remembered, and a host that sleeps
 * is woken: next_session applies the settle. False: there is no room. */
static bool remember_settle(struct instance *instance, const struct remembered *settle) {
  bool kept = remembered_add(&instance->remembered, *settle);
  store_wait_again(instance->store);
  return kept;
}

int flow_settle(struct instance *instance, uint64_t delivery_id, uint32_t outcome,
                const struct tidings_reply **ret_reply, struct tidings_error *error) {
  const struct settlement settlement = {
      .id = delivery_id, .outcome = outcome, .answers = ret_reply != NULL};
  const struct remembered settle = {.delivery_id = delivery_id, .outcome = outcome};
  store_deadline deadline = instance_deadline(instance);
  bool promised = remembered_drop(&instance->remembered, &settle);
  (void)flow_settle_remembered(instance, deadline, NULL);
  int code = settle_now(instance, &settlement, deadline, ret_reply, error);
  bool unknown = code == TIDINGS_E_OUTCOME_UNKNOWN, busy = code == TIDINGS_E_BUSY;
  if (!code && promised && !(ret_reply && *ret_reply)) name_settled(instance, delivery_id);
  if (!busy && !unknown && !(promised && may_pass(code))) return code;
  bool kept = remember_settle(instance, &settle);
  if (!busy)
    return code; /* the error says that the result is not known; the next call settles again */
  if (!kept) {
    return fail(error, TIDINGS_E_NOMEM,
                "delivery %llu: another writer holds the store, and there is no memory to remember "
                "this; settle again",
                (unsigned long long)delivery_id);
  }
  return fail(error, TIDINGS_E_BUSY,
              "delivery %llu: another writer holds the store; this is remembered and applied at "
              "the next call",
              (unsigned long long)delivery_id);
}
