/* SPDX-License-Identifier: MIT
 *
 * session/decision.h: what a session's run does next, decided within one transaction: from the head
 * to the reply. The caller commits, and hands the reply out after that.
 */
#ifndef SESSION_DECISION_H
#define SESSION_DECISION_H

#include "session/reply.h"
#include "session/stored_run.h"

/* Before decision_load, all members but `answers` and `owned` are zero. */
struct decision {
  bool answers; /* the caller is the attached host and gets the reply */
  bool owned;   /* a host that is alive is attached */

  bool head_changed;
  struct stored_run stored;
  uint64_t last_item;
  struct tidings_span system_text; /* the text with which an offered system turn starts */
  struct turns_result result;
  int64_t next_ms; /* when the next notification that asks for something is due; 0: none */
};

/* Loads the decision of op's head, in its transaction. Errors: STORE, NOMEM. */
int decision_load(struct op *op, struct decision *decision, const struct tidings_span *ids,
                  size_t count, ptrdiff_t *ret_named, struct tidings_error *error);
int decision_load_numbers(struct op *op, struct decision *decision, const uint64_t *numbers,
                          size_t count, ptrdiff_t *ret_named, struct tidings_error *error);
struct turns_input decision_input(const struct op *op, const struct decision *decision,
                                  enum turns_event event);
/* To be called after the step: looks at urgency, and at an offer that is due or that the host does
 * not know yet. Errors: STORE, NOMEM. */
int decision_look(struct op *op, struct decision *decision, struct tidings_error *error);
static inline bool decision_acts(const struct decision *decision) {
  return decision->result.offer || decision->result.abort || decision->result.stop;
}
/* Writes rows and head, if anything changed: *ret_changed. */
int decision_save(struct op *op, struct decision *decision, enum turns_event event,
                  bool *ret_changed, struct tidings_error *error);
/* Makes a reply with the status and the actions, in op's arena. It is made inside the transaction,
 * so that nothing can fail after the commit. */
int decision_reply(struct op *op, const struct decision *decision, struct tidings_reply **ret_reply,
                   struct tidings_error *error);

/* To be called when the call's result is known: `code` is the commit's, or that of a snapshot that
 * answers. If the host does not get the reply although the commit may be stored, the next decision
 * asks it again for what this one asked. */
void decision_done(const struct op *op, const struct decision *decision, int code);

/* Makes a reply without actions, by a snapshot of its own: the status of the session op->name, and
 * for its owner the time at which to send `wake`. Errors: STORE, NOMEM. */
int decision_status_reply(struct op *op, struct tidings_reply **ret_reply,
                          struct tidings_error *error);

#endif
