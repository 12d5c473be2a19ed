/* SPDX-License-Identifier: MIT
 *
 * session/attach.c: see attach.h.
 */
#include "session/attach.h"

#include "common/error.h"
#include "session/ledger.h"
#include "session/turning.h"

static bool is_named(const struct session_event *opening, uint64_t id) {
  for (size_t i = 0; opening && i < opening->delivery_count; i++) {
    if (opening->deliveries[i] == id) return true;
  }
  return false;
}

/* The messages on a carrier, as the machine sees it end. Nothing is offered meanwhile. */
static int step_messages(struct turning *turning, const struct delivery *delivery, bool named,
                         struct tidings_error *error) {
  ptrdiff_t *indices = arena_zalloc(turning->arena, delivery->message_count + 1, sizeof *indices);
  size_t count = 0;
  if (!indices) return fail(error, TIDINGS_E_NOMEM, "no memory to recover what was leased");
  for (size_t i = 0; i < turning->turns.count; i++) {
    for (size_t j = 0; j < delivery->message_count; j++) {
      if (turning->turns.messages[i].n == delivery->messages[j]) indices[count++] = (ptrdiff_t)i;
    }
  }
  struct turns_input input = turning_input(turning, named ? TURNS_COMMITTED : TURNS_ROLLED_BACK);
  input.delivery = delivery->n;
  input.named = indices;
  input.named_count = count;
  return turns_step(&turning->turns, &input, error);
}

/* Ends every lease: the named ones as committed, the others as rolled back. */
static int resolve_leases(const struct attaching *attaching, struct turning *turning,
                          struct tidings_error *error) {
  struct head *head = attaching->head;
  const uint64_t *leased = head->leased;
  size_t count = head->leased_count;
  for (size_t i = 0; i < count; i++) {
    struct delivery delivery;
    int code = delivery_get_leased(attaching->txn, attaching->session, head, leased[i],
                                   attaching->arena, &delivery, error);
    if (code) return code;
    bool named = is_named(attaching->opening, public_id(attaching->session, delivery.n));
    int failed = named ? ledger_commit(head, &delivery, attaching->arena)
                       : ledger_roll_back(head, &delivery, attaching->arena);
    if (failed) return fail(error, TIDINGS_E_NOMEM, "no memory to recover what was leased");
    delivery.state = named ? DELIVERY_COMMITTED : DELIVERY_ROLLED_BACK;
    delivery.settled_by = attaching->opening && attaching->opening->has_deliveries
                              ? SETTLED_BY_RESUME
                              : SETTLED_BY_RECOVERY;
    delivery.settled_ms = attaching->now_ms;
    code = delivery_put(attaching->txn, attaching->session, &delivery, error);
    if (!code) code = step_messages(turning, &delivery, named, error);
    if (code) return code;
  }
  return 0;
}

/* What the owner before left behind; or, of our own, what was leased and is not in the
 * transcript. */
static int recover(const struct attaching *attaching, bool mine, bool was_owned,
                   struct tidings_error *error) {
  struct turning turning = {.instance = attaching->instance,
                            .settings = attaching->settings,
                            .txn = attaching->txn,
                            .session = attaching->session,
                            .head = attaching->head,
                            .arena = attaching->arena,
                            .now_ms = attaching->now_ms};
  bool changed;
  int code = turning_load(&turning, NULL, 0, NULL, error);
  if (!code) code = resolve_leases(attaching, &turning, error);
  const struct turns_input input = turning_input(&turning, TURNS_RECOVERED);
  if (!code && !mine && was_owned) code = turns_step(&turning.turns, &input, error);
  return code ? code : turning_save(&turning, TURNS_RECOVERED, false, &changed, error);
}

/* Whose session was taken over has to open it again: what it believes of the session may be wrong
 * by now, whoever has it or had it meanwhile. */
bool was_taken_over(const struct head *head, const struct owner *host) {
  if (owner_equal(&head->owner, host)) return false;
  for (size_t i = 0; i < head->former_count; i++) {
    if (owner_equal(&head->formers[i], host)) return true;
  }
  return false;
}

/* Leaves out `host`, and, if `dead`, whoever has ended: that one does not call again. */
static void forget_formers(struct head *head, const struct owner *host, bool dead) {
  size_t kept = 0;
  for (size_t i = 0; i < head->former_count; i++) {
    if (owner_equal(&head->formers[i], host) || (dead && !owner_alive(&head->formers[i]))) continue;
    head->formers[kept++] = head->formers[i];
  }
  head->former_count = kept;
}

/* Of more than fit, all of them alive, the one that lost the session first is forgotten. */
static void add_former(struct head *head, const struct owner *host) {
  forget_formers(head, host, true);
  if (head->former_count == FORMERS)
    memmove(head->formers, head->formers + 1, --head->former_count * sizeof *head->formers);
  head->formers[head->former_count++] = *host;
}

static int refuse_former(const struct attaching *attaching, struct tidings_error *error) {
  return fail(error, TIDINGS_E_CLOSED,
              "the session was taken over by another host, pid %u; open it again",
              attaching->head->owner.pid);
}

static int refuse_second(const struct attaching *attaching, struct tidings_error *error) {
  return fail(
      error, TIDINGS_E_BUSY,
      "the session is owned by a running host, pid %u; end that, or open the session with takeover",
      attaching->head->owner.pid);
}

int attach(const struct attaching *attaching, bool *ret_changed, struct tidings_error *error) {
  const struct session_event *opening = attaching->opening;
  struct head *head = attaching->head;
  bool mine = owner_equal(&head->owner, &attaching->instance->owner),
       was_owned = head->owner.pid != 0;
  bool changed = !mine;
  if (!opening && was_taken_over(head, &attaching->instance->owner))
    return refuse_former(attaching, error);
  if (!mine && owner_alive(&head->owner)) {
    if (!opening || !opening->takeover) return refuse_second(attaching, error);
    add_former(head, &head->owner);
  }
  if (!mine) {
    forget_formers(head, &attaching->instance->owner, false);
    head->epoch++;
    head->owner = attaching->instance->owner;
    head->attached_ms = attaching->now_ms;
    head->closed_ms = 0;
    head->cwd = head->host = span_of(NULL, 0);
  }
  if (!mine || (opening && opening->has_deliveries)) {
    int code = recover(attaching, mine, was_owned, error);
    if (code) return code;
    changed = true;
  }
  if (opening && (!span_equal(head->cwd, opening->cwd) || !span_equal(head->host, opening->host))) {
    head->cwd = opening->cwd;
    head->host = opening->host;
    changed = true;
  }
  *ret_changed = changed;
  return 0;
}

static struct session *remember(struct instance *instance, struct tidings_span id, uint32_t number,
                                struct tidings_error *error) {
  struct session *session =
      session_table_add(&instance->sessions, id, number, store_bell(instance->store, number));
  if (!session) (void)fail(error, TIDINGS_E_NOMEM, "no memory for a session");
  return session;
}

int session_known(struct instance *instance, struct tidings_span id, struct session **ret_session,
                  struct tidings_error *error) {
  struct session *session = session_table_find(&instance->sessions, id);
  struct store_txn *txn;
  uint32_t number;
  if (!session) {
    int code = store_read(instance->store, &txn, error);
    if (code) return code;
    code = session_find(txn, id, &number, error);
    store_end(txn);
    if (code) return code;
    if (number && !(session = remember(instance, id, number, error))) return TIDINGS_E_NOMEM;
  }
  *ret_session = session;
  return 0;
}

int session_remember(struct instance *instance, struct tidings_span id, uint32_t number,
                     struct session **ret_session, struct tidings_error *error) {
  struct session *session = remember(instance, id, number, error);
  if (!session) return TIDINGS_E_NOMEM;
  *ret_session = session;
  return 0;
}

int session_attach(struct instance *instance, const struct settings *settings,
                   struct tidings_span id, int64_t now_ms, store_deadline deadline,
                   struct session **ret_session, struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  struct attaching attaching = {
      .instance = instance, .settings = settings, .now_ms = now_ms, .arena = &arena};
  struct store_txn *txn;
  struct head head;
  bool changed;
  int code = store_write(instance->store, deadline, &txn, error);
  if (code) return code;
  attaching.txn = txn;
  attaching.head = &head;
  code = session_add(txn, id, &attaching.session, error);
  if (!code) code = head_get(txn, attaching.session, &arena, &head, error);
  if (!code) code = attach(&attaching, &changed, error);
  if (!code && changed) code = head_put(txn, attaching.session, &head, error);
  if (!code && changed) code = store_sweep(txn, attaching.session, now_ms, error);
  if (!code && changed) code = store_commit(txn, error);
  else store_end(txn);
  /* Not before: a number that was not stored is given to the next session that comes. */
  if (!code) code = session_remember(instance, id, attaching.session, ret_session, error);
  arena_free(&arena);
  return code;
}
