/* SPDX-License-Identifier: MIT
 *
 * session/attach.h: whose session it is. A host attaches by session.opened, session.resumed or its
 * first hook call; attaching to a session whose owner is dead settles what that owner had leased,
 * and its run goes idle.
 */
#ifndef SESSION_ATTACH_H
#define SESSION_ATTACH_H

#include "event/event.h"
#include "instance/instance.h"

/* In a write, changes `head`; the caller puts it if *ret_changed. Deliveries that `opening` names
 * are committed; the others of a dead or deposed owner, and all others when it names any, are
 * rolled back. Errors: BUSY naming the living owner's pid, CLOSED for one whose session was taken
 * over, STORE, NOMEM. */
struct attaching {
  const struct instance *instance;
  const struct settings *settings;
  struct store_txn *txn;
  uint32_t session;
  struct head *head;
  /* NULL: a hook call, or an event other than session.opened and .resumed */
  const struct session_event *opening;
  int64_t now_ms;
  struct arena *arena;
};
int attach(const struct attaching *attaching, bool *ret_changed, struct tidings_error *error);

/* Was it `host` that had the session before it was taken over? */
bool was_taken_over(const struct head *head, const struct owner *host);

/* The session as this process remembers it; looked up in the store if need be. *ret_session NULL:
 * the store has never heard of it. */
int session_known(struct instance *instance, struct tidings_span id, struct session **ret_session,
                  struct tidings_error *error);

/* After a commit: remembers the session that has this number now. Errors: NOMEM. */
int session_remember(struct instance *instance, struct tidings_span id, uint32_t number,
                     struct session **ret_session, struct tidings_error *error);

/* Adds the session if need be and attaches to it, in a transaction of its own. */
int session_attach(struct instance *instance, const struct settings *settings,
                   struct tidings_span id, int64_t now_ms, store_deadline deadline,
                   struct session **ret_session, struct tidings_error *error);

#endif
