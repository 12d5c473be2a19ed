/* SPDX-License-Identifier: MIT
 */
#include "session/attach.h"

#include "common/error.h"
#include "session/ending.h"
#include "session/inherit.h"
#include "session/orphans.h"
#include "session/outdated.h"
#include "session/stored_run.h"

static bool transcript_names(const struct session_event *opening, uint64_t id) {
  for (size_t i = 0; opening && i < opening->delivery_count; i++) {
    if (opening->deliveries[i] == id) return true;
  }
  return false;
}

int attach_find_newest(struct op *op, const struct session_event *opening,
                       struct tidings_error *error) {
  op->newest = 0;
  if (!opening || !opening->newest) return 0;
  return delivery_find(op->txn, op->session, opening->newest, &op->newest, error);
}

/* Is this delivery one that the transcript has? If its row is lost, the rows of ids are looked
 * up. */
static int look_up_named(struct op *op, const struct session_event *opening,
                         const struct delivery *delivery, bool *ret_named,
                         struct tidings_error *error) {
  bool named = transcript_names(opening, delivery_id(op->session, delivery));
  int code = 0;
  for (size_t i = 0; !code && !named && !delivery->mark && opening && i < opening->delivery_count;
       i++) {
    uint64_t n = 0;
    code = delivery_find(op->txn, op->session, opening->deliveries[i], &n, error);
    named = n == delivery->n;
  }
  if (!code) *ret_named = named;
  return code;
}

/* Tells the machine of turns that the carrier of its messages has ended. Offers nothing
 * meanwhile. */
static int end_carrier(struct op *op, struct stored_run *stored, const struct delivery *delivery,
                       bool named, struct tidings_error *error) {
  ptrdiff_t *indices = arena_zalloc(&op->arena, delivery->message_count + 1, sizeof *indices);
  size_t count = 0;
  if (!indices) return fail(error, TIDINGS_E_NOMEM, "no memory to recover what was leased");
  for (size_t i = 0; i < stored->turns.count; i++) {
    for (size_t j = 0; j < delivery->message_count; j++) {
      if (stored->turns.messages[i].n == delivery->messages[j]) indices[count++] = (ptrdiff_t)i;
    }
  }
  struct turns_input input = stored_run_input(op, named ? TURNS_COMMITTED : TURNS_ROLLED_BACK);
  input.delivery = delivery->n;
  input.named = indices;
  input.named_count = count;
  return turns_step(&stored->turns, &input, error);
}

/* The leases that end, by n, and which of them the transcript has. */
struct leases {
  struct delivery *deliveries;
  bool *named;
  size_t count;
};

/* If the host goes on, it may have made a later delivery by another call: that lease stays, because
 * the host settles it. */
static int read_leases(struct op *op, const struct session_event *opening, bool goes_on,
                       struct leases *leases, struct tidings_error *error) {
  const struct head *head = &op->head;
  int code = 0;
  leases->deliveries = arena_array(&op->arena, head->leased_count, sizeof *leases->deliveries);
  leases->named = arena_zalloc(&op->arena, head->leased_count, sizeof *leases->named);
  leases->count = 0;
  if (!leases->deliveries || !leases->named)
    return fail(error, TIDINGS_E_NOMEM, "no memory to recover what was leased");
  for (size_t i = 0; !code && i < head->leased_count; i++) {
    if (goes_on && attach_is_later(op, head->leased[i])) continue;
    struct delivery *delivery = &leases->deliveries[leases->count];
    code = delivery_get_leased(op->txn, op->session, head, head->leased[i], &op->arena, delivery,
                               error);
    if (!code) code = look_up_named(op, opening, delivery, &leases->named[leases->count++], error);
  }
  return code;
}

/* Ends every lease: commits the named deliveries, and rolls the others back. */
static int resolve_leases(struct op *op, const struct session_event *opening, bool goes_on,
                          struct stored_run *stored, struct tidings_error *error) {
  enum delivery_settled_by by =
      opening && opening->has_deliveries ? SETTLED_BY_RESUME : SETTLED_BY_RECOVERY;
  struct leases leases;
  bool lost = false;
  int code = read_leases(op, opening, goes_on, &leases, error);
  if (code || !leases.count) return code;
  code = ending_resolve(op, leases.deliveries, leases.named, leases.count, by, error);
  for (size_t i = 0; !code && i < leases.count; i++) {
    code = end_carrier(op, stored, &leases.deliveries[i], leases.named[i], error);
    lost = lost || !leases.named[i];
  }
  return code || !lost ? code : outdated_end(op, by, error);
}

/* The preamble has to be said again if the transcript ends before the delivery that had it. */
static int look_for_preamble(struct op *op, const struct session_event *opening,
                             struct tidings_error *error) {
  struct head *head = &op->head;
  bool has_it = attach_is_later(op, head->preamble);
  int code = 0;
  if (!head->preamble || !opening || !opening->has_deliveries) return 0;
  for (size_t i = opening->delivery_count; i-- && !code && !has_it;) {
    uint64_t n = 0;
    code = delivery_find(op->txn, op->session, opening->deliveries[i], &n, error);
    has_it = n >= head->preamble;
  }
  if (!code && !has_it) head->preamble = 0;
  return code;
}

/* Finds calls that a former host has not ended. If orphans were found before, they are kept until a
 * turn starts. */
static int find_orphans(struct op *op, uint64_t epoch, struct run *run,
                        struct tidings_error *error) {
  struct memory before;
  bool any = false, ran = run_has_turn(run) && run->state != RUN_STARTING;
  int code = orphans_get(op, run, &before, error);
  if (code || (before.call_count && !ran)) return code;
  code = orphans_find(op, epoch, &any, error);
  if (!code) run->calls_orphaned = any;
  return code;
}

/* Ends the leases and the run of the former owner; or, if `mine`, the leases of this host that its
 * transcript does not have. */
static int recover_session(struct op *op, const struct session_event *opening, bool mine,
                           bool from_another, uint64_t epoch, struct tidings_error *error) {
  struct stored_run stored = {.from = 0};
  bool changed;
  int code = stored_run_load(op, &stored, NULL, 0, NULL, error);
  if (!code) code = attach_find_newest(op, opening, error);
  if (!code) code = resolve_leases(op, opening, mine, &stored, error);
  if (!code) code = inherit_named(op, opening, error);
  if (!code) code = look_for_preamble(op, opening, error);
  if (!code && from_another) code = find_orphans(op, epoch, &stored.turns.run, error);
  const struct turns_input input = stored_run_input(op, TURNS_RECOVERED);
  if (!code && from_another) code = turns_step(&stored.turns, &input, error);
  return code ? code : stored_run_save(op, &stored, TURNS_RECOVERED, false, &changed, error);
}

int attach_recover(struct op *op, bool mine, struct tidings_error *error) {
  return recover_session(op, NULL, mine, !mine, op->head.epoch, error);
}

/* A host whose session was taken over has to open the session again, because what it knows of the
 * session may be outdated, even if the other host has ended. */
bool attach_was_taken_over(const struct head *head, const struct owner *host) {
  if (owner_equal(&head->owner, host)) return false;
  for (size_t i = 0; i < head->former_count; i++) {
    if (owner_equal(&head->formers[i], host)) return true;
  }
  return false;
}

/* Removes `host` from the list of former owners; if `dead`, also removes those that have ended,
 * because they do not call again. */
static void forget_formers(struct op *op, const struct owner *host, bool dead) {
  struct head *head = &op->head;
  size_t kept = 0;
  for (size_t i = 0; i < head->former_count; i++) {
    struct owner *former = &head->formers[i];
    if (owner_equal(former, host)) continue;
    if (dead && !store_owner_alive(op->instance->store, former)) continue;
    head->formers[kept++] = *former;
  }
  head->former_count = kept;
}

/* If more former owners live than fit, forgets the one that lost the session first. */
static void add_former(struct op *op, const struct owner *host) {
  struct head *head = &op->head;
  forget_formers(op, host, true);
  if (head->former_count == FORMERS)
    memmove(head->formers, head->formers + 1, --head->former_count * sizeof *head->formers);
  head->formers[head->former_count++] = *host;
}

static int refuse_former(const struct head *head, struct tidings_error *error) {
  return fail(error, TIDINGS_E_CLOSED,
              "the session was taken over by another host, pid %u; open it again", head->owner.pid);
}

static int refuse_second(const struct head *head, struct tidings_error *error) {
  return fail(error, TIDINGS_E_OWNED,
              "the session is owned by a running host, pid %u; end that host, or open the "
              "session with takeover",
              head->owner.pid);
}

static void become_owner(struct op *op) {
  struct head *head = &op->head;
  forget_formers(op, &op->instance->owner, false);
  head->epoch++;
  head->owner = op->instance->owner;
  head->attached_ms = op->now_ms;
  head->closed_ms = 0;
  head->cwd = head->host = span_of(NULL, 0);
}

int attach_in_write(struct op *op, const struct session_event *opening, bool *ret_changed,
                    struct tidings_error *error) {
  struct head *head = &op->head;
  bool mine = op_owns_session(op), was_owned = head->owner.pid != 0, changed = !mine;
  bool opens = opening && opening->opens;
  const uint64_t epoch = head->epoch;
  if (!opens && attach_was_taken_over(head, &op->instance->owner))
    return refuse_former(head, error);
  if (!mine && store_owner_alive(op->instance->store, &head->owner)) {
    if (!opening || !opening->takeover) return refuse_second(head, error);
    const struct owner former = head->owner;
    add_former(op, &former);
  }
  if (!mine) become_owner(op);
  if (!mine || (opening && opening->has_deliveries)) {
    int code = recover_session(op, opening, mine, !mine && was_owned, epoch, error);
    if (code) return code;
    changed = true;
  }
  if (opens && (!span_equal(head->cwd, opening->cwd) || !span_equal(head->host, opening->host))) {
    head->cwd = opening->cwd;
    head->host = opening->host;
    changed = true;
  }
  *ret_changed = changed;
  return 0;
}

/* After a commit: remembers the session that has this number now. */
static int remember_session(struct op *op, uint32_t number, struct tidings_error *error) {
  struct instance *instance = op->instance;
  struct session *session = session_table_add(&instance->sessions, op->name, number,
                                              store_changes(instance->store, number));
  if (!session) return fail(error, TIDINGS_E_NOMEM, "no memory for a session");
  op->known = session;
  op->session = session->number;
  return 0;
}

int attach_look_up(struct op *op, struct tidings_error *error) {
  uint32_t number = 0;
  if (!op->known) op->known = session_table_find(&op->instance->sessions, op->name);
  if (op->known) {
    op->session = op->known->number;
    return 0;
  }
  int code = op_read(op, error);
  if (code) return code;
  code = session_find(op->txn, op->name, &number, error);
  op_give_up(op);
  return code || !number ? code : remember_session(op, number, error);
}

int attach_by_hook(struct op *op, struct tidings_error *error) {
  bool changed = false;
  uint32_t number;
  int code = op_write(op, error);
  if (code) return code;
  code = session_add(op->txn, op->name, &number, error);
  if (!code) op->session = number;
  if (!code) code = op_get_head(op, error);
  if (!code) code = attach_in_write(op, NULL, &changed, error);
  if (!code && changed) code = op_put_head(op, error);
  if (!code && changed) code = store_sweep(op->txn, number, op->now_ms, error);
  if (!code && changed) code = op_commit(op, error);
  op_give_up(op);
  arena_free(&op->arena);
  /* only after the commit: a number that was not stored would be given to another session */
  return code ? code : remember_session(op, number, error);
}
