/* SPDX-License-Identifier: MIT
 *
 * flow/event.c: passes each event to the verb that handles it: a notification to push.c, a report
 * to report.c, all others to a step of the session's run.
 */
#include "flow/internal.h"

/* A duplicate is answered by a reply that says so, and does what `wake` does: the host may not have
 * received the first reply. */
static int reply_to_duplicate(struct op *op, const struct tidings_reply **ret_reply,
                              struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  react_to_notification(op, &reply);
  int code = reply ? 0 : decision_status_reply(op, &reply, error);
  if (code) return code;
  reply->flags |= TIDINGS_REPLY_DUPLICATE;
  *ret_reply = reply_hand_out(reply, op);
  return 0;
}

/* *ret_reply is NULL for an event that needs no action. */
static int dispatch_event(struct op *op, const struct event *event,
                          const struct tidings_reply **ret_reply, struct tidings_error *error) {
  bool duplicate = false, asks = false;
  int code;
  if (event->type == EVENT_NOTIFICATION) {
    asks = notification_rings(&event->notification);
    code = push_notification(op, event, &duplicate, error);
    if (!code && !duplicate && event->uncut_bytes)
      push_say_cut(op, &event->notification, event->uncut_bytes);
  } else if (event_is_report(event->type)) {
    code = report_take(op, event, &duplicate, &asks, error);
  } else if (event->type == EVENT_TOOLS_DECLARED) {
    code = declare_kinds(op, event, &duplicate, error);
  } else {
    return step_take(op, event, ret_reply, error);
  }
  if (code) return code;
  if (duplicate) return reply_to_duplicate(op, ret_reply, error);
  struct tidings_reply *reply = NULL;
  if (asks) react_to_notification(op, &reply);
  if (reply) *ret_reply = reply_hand_out(reply, op);
  return 0;
}

int flow_event(struct instance *instance, struct tidings_span bytes,
               const struct tidings_reply **ret_reply, struct tidings_error *error) {
  store_deadline deadline = instance_deadline(instance);
  const struct tidings_reply *reply = NULL;
  struct arena words = ARENA_EMPTY; /* the parsed event's memory; the reply does not take it over */
  struct event event = {.type = EVENT_NOTIFICATION};
  struct op op;
  (void)flow_settle_remembered(instance, deadline, NULL);
  op_begin(&op, instance, span_of(NULL, 0), deadline);
  int code = event_parse(bytes, op.settings, &words, &event, error);
  if (!code) {
    op.name = event.session;
    code = dispatch_event(&op, &event, &reply, error);
  }
  op_end(&op);
  if (code && (event.type == EVENT_WAKE || code == TIDINGS_E_OUTCOME_UNKNOWN))
    flow_wake_failed(instance, op.session, code);
  arena_free(&words);
  if (!code) *ret_reply = reply;
  return code;
}
