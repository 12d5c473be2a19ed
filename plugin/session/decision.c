/* SPDX-License-Identifier: MIT
 */
#include "session/decision.h"

#include "common/error.h"
#include "render/urgent.h"
#include "rules/turns/turns.h"
#include "session/op.h"
#include "session/pending.h"
#include "session/planning.h"

struct asking_items {
  struct urgency urgency;
  const struct item *most; /* the most urgent of the items that ask for a turn: critical ones first,
                            * then the oldest. NULL: no item asks */
  int64_t next_ms;         /* when the next item that will ask is due; 0: no item will */
};

static bool is_urgent(const struct notification *note, const struct settings *settings) {
  return settings->critical_force &&
         (note->level == TIDINGS_LEVEL_CRITICAL || note->activation == ACTIVATION_INTERRUPT);
}

static bool is_critical(const struct item *item) {
  return item->note.level == TIDINGS_LEVEL_CRITICAL;
}

/* Did the item have no room on a chat request? An item that was not due at that time has not been
 * tried. */
static bool had_no_room(const struct run *run, const struct item *item) {
  bool was_for_later = run->asked_ms && item->note.due_ms > run->asked_ms;
  return item->n <= run->unfit && !was_for_later;
}

/* Looks through the pending `items`, sorted by n; those that had no room ask for nothing. Returns
 * 0, or -1: no memory. */
static int asking_items_find(struct op *op, const struct run *run, struct item *items, size_t count,
                             struct asking_items *ret_asking) {
  struct asking_items asking = {0};
  const bool *left;
  bool any = false;
  for (size_t i = 0; !any && i < count; i++)
    any = !had_no_room(run, &items[i]) && notification_rings(&items[i].note);
  if (any && planning_left(op, items, count, &left)) return -1;
  for (size_t i = 0; any && i < count; i++) {
    const struct notification *note = &items[i].note;
    bool urgent = is_urgent(note, op->settings);
    bool asks = urgent || note->activation == ACTIVATION_IDLE;
    if (!left[i] || !asks || had_no_room(run, &items[i])) continue;
    asking.urgency.urgent = asking.urgency.urgent || urgent;
    asking.urgency.asking = items[i].n;
    if (note->due_ms > asking.urgency.due_ms) asking.urgency.due_ms = note->due_ms;
    if (!asking.most || (is_critical(&items[i]) && !is_critical(asking.most)))
      asking.most = &items[i];
  }
  asking.next_ms = pending_first_due_ms(op, items, count);
  if (asking.most) asking.urgency.most = asking.most->n;
  *ret_asking = asking;
  return 0;
}

static int no_memory_to_decide(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "no memory to decide on a session's turns");
}

static void ask_unseen_again(const struct op *op, struct decision *decision) {
  if (decision->answers)
    turns_ask_again(&decision->stored.turns.run, unseen_of(&op->instance->unseen, op->session));
}

void decision_done(const struct op *op, const struct decision *decision, int code) {
  struct unseen_replies *replies = &op->instance->unseen;
  if (code == TIDINGS_E_OUTCOME_UNKNOWN && decision_acts(decision))
    unseen_note(replies, (struct unseen){.session = op->session, .asked = decision->result});
  else if (!code && decision->answers) unseen_forget(replies, op->session);
}

int decision_load(struct op *op, struct decision *decision, const struct tidings_span *ids,
                  size_t count, ptrdiff_t *ret_named, struct tidings_error *error) {
  int code = item_last(op->txn, op->session, &op->head, &decision->last_item, error);
  if (!code) code = stored_run_load(op, &decision->stored, ids, count, ret_named, error);
  if (!code) ask_unseen_again(op, decision);
  return code;
}

int decision_load_numbers(struct op *op, struct decision *decision, const uint64_t *numbers,
                          size_t count, ptrdiff_t *ret_named, struct tidings_error *error) {
  int code = item_last(op->txn, op->session, &op->head, &decision->last_item, error);
  if (!code)
    code = stored_run_load_numbers(op, &decision->stored, numbers, count, ret_named, error);
  if (!code) ask_unseen_again(op, decision);
  return code;
}

struct turns_input decision_input(const struct op *op, const struct decision *decision,
                                  enum turns_event event) {
  struct turns_input input = stored_run_input(op, event);
  input.last_item = decision->last_item;
  input.answers = decision->answers;
  input.owned = decision->owned;
  return input;
}

static int find_urgency(struct op *op, const struct run *run, struct asking_items *ret_asking,
                        struct tidings_error *error) {
  struct item *items;
  size_t count;
  bool any = false;
  int code = pending_rings(op, &any, error);
  if (code || !any) return code;
  code = item_pending(op->txn, op->session, &op->head, &op->arena, &items, &count, error);
  if (code) return code;
  return asking_items_find(op, run, items, count, ret_asking) ? no_memory_to_decide(error) : 0;
}

/* `most`: NULL if the turn was offered before, to a host that may not have received it. Its item
 * may be gone since. */
static int write_system_text(struct op *op, const struct item *most, struct decision *decision,
                             struct tidings_error *error) {
  struct item item = {.n = 0};
  uint64_t n = decision->stored.turns.run.system_item;
  int code = most ? 0 : item_get(op->txn, op->session, n, &op->arena, &item, error);
  if (code && code != TIDINGS_E_NOT_FOUND) return code;
  const struct notification *note = most ? &most->note : &item.note;
  return render_urgent_message(note, &op->arena, &decision->system_text)
             ? no_memory_to_decide(error)
             : 0;
}

int decision_look(struct op *op, struct decision *decision, struct tidings_error *error) {
  struct turns *turns = &decision->stored.turns;
  struct turns_input input = decision_input(op, decision, TURNS_LOOK);
  struct asking_items asking = {0};
  if (decision->answers && turns_reacts_to_urgency(&turns->run)) {
    int code = find_urgency(op, &turns->run, &asking, error);
    if (code) return code;
  }
  input.urgency = asking.urgency;
  decision->next_ms = asking.next_ms;
  turns_look(turns, &input, &decision->result);
  bool system = decision->result.offer && turns->run.kind == TURN_OF_SYSTEM;
  return system ? write_system_text(op, asking.most, decision, error) : 0;
}

int decision_save(struct op *op, struct decision *decision, enum turns_event event,
                  bool *ret_changed, struct tidings_error *error) {
  bool changed = false;
  int code = stored_run_save(op, &decision->stored, event, decision->result.abort, &changed, error);
  changed = changed || decision->head_changed;
  if (!code && changed) code = op_put_head(op, error);
  if (!code) *ret_changed = changed;
  return code;
}

int decision_reply(struct op *op, const struct decision *decision, struct tidings_reply **ret_reply,
                   struct tidings_error *error) {
  const struct turns *turns = &decision->stored.turns;
  struct tidings_reply *reply = reply_make(&op->arena);
  int code = reply ? reply_status(reply, op, turns, error) : no_memory_to_decide(error);
  if (code) return code;
  if (decision->result.abort && reply_abort(reply, &op->arena)) return no_memory_to_decide(error);
  if (decision->result.stop && reply_stop(reply, &op->arena)) return no_memory_to_decide(error);
  if (decision->result.offer) {
    code = reply_offer(reply, op, &decision->stored, decision->system_text, error);
    if (code) return code;
  }
  if (decision->answers) reply_wake(reply, op, turns, decision->next_ms);
  *ret_reply = reply;
  return 0;
}

/* A look stores nothing, so the reply shows the state before it; only the time at which the host is
 * to send `wake` is the look's. */
static int make_status_reply(struct op *op, struct decision *decision,
                             struct tidings_reply **ret_reply, struct tidings_error *error) {
  const struct turns *turns = &decision->stored.turns;
  struct tidings_reply *reply = reply_make(&op->arena);
  int code = reply ? reply_status(reply, op, turns, error) : no_memory_to_decide(error);
  if (!code && decision->answers) code = decision_look(op, decision, error);
  if (code) return code;
  if (decision_acts(decision)) reply->wake_at_ms = op->now_ms - op->ahead_ms;
  else if (decision->answers) reply_wake(reply, op, turns, decision->next_ms);
  *ret_reply = reply;
  return 0;
}

int decision_status_reply(struct op *op, struct tidings_reply **ret_reply,
                          struct tidings_error *error) {
  struct decision decision = {.answers = false};
  int code = op_read(op, error);
  if (code) return code;
  code = session_find(op->txn, op->name, &op->session, error);
  if (!code) code = op_get_head(op, error);
  decision.answers = decision.owned = !code && op_hosts_session(op);
  if (!code) code = decision_load(op, &decision, NULL, 0, NULL, error);
  if (!code) code = make_status_reply(op, &decision, ret_reply, error);
  op_give_up(op);
  return code;
}
