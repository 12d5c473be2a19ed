/* SPDX-License-Identifier: MIT
 *
 * delivery/reply.h: making the reply that crosses to the host. It lives in the arena of the call that made it, which it takes over.
 */
#ifndef DELIVERY_REPLY_H
#define DELIVERY_REPLY_H

#include "instance/instance.h"
#include "policy/plan.h"

/* An empty reply with the status of an idle session, in `arena`. NULL: no memory. */
struct tidings_reply *reply_make(struct arena *arena);

/* What is shown of a plan, and on what. */
struct showing {
  const struct instance *instance;
  const struct configuration *configuration;
  struct tidings_span session; /* its id */
  uint32_t session_number;
  bool chat_request;
  const struct plan *plan;
  const struct tidings_span *steered; /* contents of the messages that the delivery injects into the running turn, in order */
  size_t steered_count;
};

/* Puts a plan's lines into the reply: as notifications, and rendered; and the steered messages, rendered. Errors: NOMEM, INVAL (the host's random failed). */
int reply_show(struct tidings_reply *reply, const struct showing *showing, struct arena *arena, struct tidings_error *error);

/* Hands the reply out: the arena goes with it and is empty afterwards. Cannot fail. */
const struct tidings_reply *reply_hand_out(struct tidings_reply *reply, struct instance *instance, struct arena *arena);
void reply_release(struct instance *instance, const struct tidings_reply *reply); /* NULL is allowed */

#endif
