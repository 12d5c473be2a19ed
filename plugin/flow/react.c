/* SPDX-License-Identifier: MIT
 *
 * flow/react.c: which actions a stored notification asks of this host: a turn, or stopping the
 * stream.
 */
#include "flow/internal.h"
#include "session/attach.h"

/* Could a decision change anything? Checked in a snapshot, so that notifications for a session that
 * runs, or that another host owns, cost no write. */
static int check_can_act(struct op *op, bool *ret_can_act) {
  int code = op_read(op, NULL);
  if (code) return code;
  code = op_get_head(op, NULL);
  op_give_up(op);
  if (code) return code;
  struct run run = op->head.run;
  turns_ask_again(&run, unseen_of(&op->instance->unseen, op->session));
  *ret_can_act = (turns_reacts_to_urgency(&run) || turns_has_unknown_offer(&run) ||
                  turns_has_unknown_stop(&run)) &&
                 op_owns_session(op);
  return 0;
}

static int decide_in_write(struct op *op, struct tidings_reply **ret_reply) {
  struct decision decision = {.answers = true, .owned = true};
  bool changed = false;
  int code = op_write(op, NULL);
  if (!code) code = op_get_head(op, NULL);
  if (code || !op_owns_session(op)) return code;
  code = decision_load(op, &decision, NULL, 0, NULL, NULL);
  if (!code) code = decision_look(op, &decision, NULL);
  if (!code) code = decision_save(op, &decision, TURNS_NOTIFICATION, &changed, NULL);
  if (!code && (decision_acts(&decision) || decision.next_ms))
    code = decision_reply(op, &decision, ret_reply, NULL);
  if (!code && changed) code = op_commit(op, NULL);
  decision_done(op, &decision, code);
  return code;
}

static int decide_if_possible(struct op *op, struct tidings_reply **ret_reply) {
  bool can_act = false;
  int code = attach_look_up(op, NULL);
  if (code || !op->known) return code;
  code = check_can_act(op, &can_act);
  if (code || !can_act) return code;
  code = op_lock(op, NULL);
  if (!code) code = decide_in_write(op, ret_reply);
  op_give_up(op);
  op_unlock(op);
  return code;
}

/* If no decision could be made now, asks the host to send `wake` soon. NULL: that cannot be asked
 * either; then the session rings. */
static struct tidings_reply *ask_again(struct op *op) {
  enum { SOON_MS = 250 };
  struct tidings_reply *reply = NULL;
  if (decision_status_reply(op, &reply, NULL)) {
    flow_wake_again(op->instance, op->session);
    return NULL;
  }
  reply->wake_at_ms = op->now_ms + SOON_MS - op->ahead_ms;
  return reply;
}

void react_to_notification(struct op *op, struct tidings_reply **ret_reply) {
  struct tidings_reply *reply = NULL;
  if (op->instance->role == TIDINGS_ROLE_PRODUCER) return;
  if (decide_if_possible(op, &reply)) reply = ask_again(op);
  if (reply) *ret_reply = reply;
}
