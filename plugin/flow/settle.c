/* SPDX-License-Identifier: MIT
 *
 * flow/settle.c: the second phase: the host says what became of the carrier.
 */
#include "common/error.h"
#include "flow/deliver.h"
#include "session/ledger.h"
#include "session/stage.h"

enum { RETENTION_ROWS = 64 };

static const char *state_name(uint8_t state) {
  return state == DELIVERY_COMMITTED     ? "committed"
         : state == DELIVERY_ROLLED_BACK ? "rolled back"
                                         : "leased";
}

/* How many items a delivery ended: so many old ones may be forgotten with it, or history would
 * outgrow its limit. */
static size_t item_count(const struct delivery *delivery) {
  uint64_t count = 0;
  for (size_t i = 0; i < delivery->fate_count; i++)
    count += delivery->fates[i].last - delivery->fates[i].first + 1;
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

/* Ends the lease in the stage's head, and tells the run what became of its messages. */
static int end_lease(struct stage *stage, struct delivery *delivery, uint32_t outcome,
                     struct tidings_error *error) {
  bool commit = outcome == TIDINGS_COMMITTED, changed;
  enum turns_event event = commit ? TURNS_COMMITTED : TURNS_ROLLED_BACK;
  struct head *head = &stage->head;
  ptrdiff_t *named = arena_zalloc(&stage->arena, delivery->message_count + 1, sizeof *named);
  if (!named || (commit ? ledger_commit(head, delivery, &stage->arena)
                        : ledger_roll_back(head, delivery, &stage->arena)))
    return fail(error, TIDINGS_E_NOMEM, "no memory to settle");
  delivery->state = commit ? DELIVERY_COMMITTED : DELIVERY_ROLLED_BACK;
  delivery->settled_by = SETTLED_BY_HOST;
  delivery->settled_ms = stage->now_ms;
  stage->head_changed = true;
  int code = commit ? retention_step(stage->txn, stage->session, head, stage->now_ms,
                                     RETENTION_ROWS + item_count(delivery), error)
                    : 0;
  if (!code) code = delivery_put(stage->txn, stage->session, delivery, error);
  if (!code && commit && !messages_alive(&head->run))
    return head_put(stage->txn, stage->session, head, error);
  if (!code)
    code = stage_load_numbers(stage, delivery->messages, delivery->message_count, named, error);
  if (code) return code;
  struct turns_input input = stage_input(stage, event);
  input.delivery = delivery->n;
  input.named = named;
  input.named_count = keep_known(named, delivery->message_count);
  code = turns_step(&stage->turning.turns, &input, error);
  if (!code && !commit) code = stage_look(stage, error);
  return code ? code : stage_save(stage, event, &changed, error);
}

/* Only the session's owner settles; but whoever says again what is so already is not
 * contradicted. */
static int check_owner(const struct instance *instance, const struct head *head, uint64_t id,
                       struct tidings_error *error) {
  if (owner_equal(&head->owner, &instance->owner)) return 0;
  if (!head->owner.pid)
    return fail(error, TIDINGS_E_CLOSED, "delivery %llu: its session was closed",
                (unsigned long long)id);
  return fail(error, TIDINGS_E_CLOSED,
              "delivery %llu: its session is pid %u's; what this host has in its transcript is "
              "named in session.resumed",
              (unsigned long long)id, head->owner.pid);
}

static int check_ended(uint64_t id, const struct delivery *delivery, struct tidings_error *error) {
  if (delivery->state == DELIVERY_LEASED) return 0;
  return fail(error, TIDINGS_E_STATE, "delivery %llu was %s already%s", (unsigned long long)id,
              state_name(delivery->state),
              delivery->state == DELIVERY_ROLLED_BACK ? ": what was in it is delivered again" : "");
}

static int get_delivery(struct store_txn *txn, uint32_t session, const struct head *head,
                        uint64_t id, struct arena *arena, struct delivery *ret_delivery,
                        struct tidings_error *error) {
  uint64_t n = public_id_n(id);
  for (size_t i = 0; i < head->leased_count; i++) {
    if (head->leased[i] == n)
      return delivery_get_leased(txn, session, head, n, arena, ret_delivery, error);
  }
  int code = delivery_get(txn, session, n, arena, ret_delivery, error);
  return code == TIDINGS_E_NOT_FOUND
             ? fail(error, code, "delivery %llu: there is none of that id", (unsigned long long)id)
             : code;
}

/* What the settlement asks for; *ret_ended: it is so already. */
static int decide(struct stage *stage, uint64_t id, uint32_t outcome, bool *ret_ended,
                  struct tidings_error *error) {
  struct delivery delivery = {0};
  int code = head_get(stage->txn, stage->session, &stage->arena, &stage->head, error);
  if (!code)
    code =
        get_delivery(stage->txn, stage->session, &stage->head, id, &stage->arena, &delivery, error);
  if (code) return code;
  *ret_ended =
      delivery.state == (outcome == TIDINGS_COMMITTED ? DELIVERY_COMMITTED : DELIVERY_ROLLED_BACK);
  if (*ret_ended) return 0;
  code = check_owner(stage->instance, &stage->head, id, error);
  if (!code) code = check_ended(id, &delivery, error);
  return code ? code : end_lease(stage, &delivery, outcome, error);
}

/* A reply is made only if there is something to do. */
static int settle_in_write(struct stage *stage, uint64_t id, uint32_t outcome,
                           struct tidings_reply **ret_reply, bool *ret_ended,
                           struct tidings_error *error) {
  int code = decide(stage, id, outcome, ret_ended, error);
  bool acts = !code && !*ret_ended && (stage->result.offer || stage->result.abort);
  return acts ? stage_reply(stage, ret_reply, error) : code;
}

static int settle_now(struct instance *instance, uint64_t id, uint32_t outcome,
                      store_deadline deadline, const struct tidings_reply **ret_reply,
                      struct tidings_error *error) {
  struct configuration *configuration = configuration_use(instance);
  struct stage stage = {.instance = instance,
                        .settings = &configuration->settings,
                        .session = public_id_session(id),
                        .now_ms = instance_now(instance),
                        .arena = ARENA_EMPTY,
                        .answers = ret_reply != NULL,
                        .owned = true};
  struct tidings_reply *reply = NULL;
  bool ended = false;
  int code = instance_lock_session(instance, stage.session, deadline, error);
  if (code) goto out;
  code = store_write(instance->store, deadline, &stage.txn, error);
  if (!code) {
    code = settle_in_write(&stage, id, outcome, &reply, &ended, error);
    if (!code && !ended) code = store_sweep(stage.txn, stage.session, stage.now_ms, error);
    if (!code && !ended) code = store_commit(stage.txn, error);
    else store_end(stage.txn);
  }
  instance_unlock_session(instance, stage.session);
  if (!code && ret_reply) *ret_reply = reply ? reply_hand_out(reply, instance, &stage.arena) : NULL;
out:
  configuration_done(configuration);
  arena_free(&stage.arena);
  return code;
}

/* -- settles that met BUSY --------------------------------------------------------------------- */

int settle_remembered(struct instance *instance, store_deadline deadline,
                      struct tidings_error *error) {
  struct remembered remembered;
  while (remembered_take(&instance->remembered, &remembered)) {
    struct tidings_error why = {.size = sizeof why};
    int code =
        settle_now(instance, remembered.delivery_id, remembered.outcome, deadline, NULL, &why);
    if (code == TIDINGS_E_BUSY || code == TIDINGS_E_NOMEM || code == TIDINGS_E_STORE) {
      (void)remembered_add(&instance->remembered, remembered);
      return fail(error, code, "delivery %llu, whose settle was remembered: %s",
                  (unsigned long long)remembered.delivery_id, why.text);
    }
    if (code) {
      struct tidings_span text = span_text(why.text);
      instance->host.log(instance->host.context, TIDINGS_LOG_WARNING, &text);
    }
  }
  return 0;
}

int settle(struct instance *instance, uint64_t delivery_id, uint32_t outcome,
           const struct tidings_reply **ret_reply, struct tidings_error *error) {
  store_deadline deadline = store_deadline_in(instance->budget_ms);
  (void)settle_remembered(instance, deadline, NULL);
  int code = settle_now(instance, delivery_id, outcome, deadline, ret_reply, error);
  if (code != TIDINGS_E_BUSY) return code;
  if (!remembered_add(&instance->remembered, (struct remembered){delivery_id, outcome})) {
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
