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

/* Puts a plan's lines into the reply: as notifications, and rendered. Returns 0, or -1: no memory. */
int reply_show(struct tidings_reply *reply, const struct instance *instance, const struct settings *settings, uint32_t session,
               const struct plan *plan, struct arena *arena);

/* Hands the reply out: the arena goes with it and is empty afterwards. Cannot fail. */
const struct tidings_reply *reply_hand_out(struct tidings_reply *reply, struct instance *instance, struct arena *arena);
void reply_release(struct instance *instance, const struct tidings_reply *reply); /* NULL is allowed */

#endif
