/* SPDX-License-Identifier: MIT
 *
 * session/reply.h: making the reply that crosses to the host. It lives in the arena of the call
 * that made it, which it takes over.
 */
#ifndef SESSION_REPLY_H
#define SESSION_REPLY_H

#include "instance/instance.h"
#include "rules/policy/plan.h"
#include "session/turning.h"

/* An empty reply in `arena`; it has no status yet. NULL: no memory. */
struct tidings_reply *reply_make(struct arena *arena);

/* How the session stands: the ids of the turn and of orphaned messages among `turns`, which may be
 * NULL if none matters. -1: no memory. */
int reply_status(struct tidings_reply *reply, const struct run *run, const struct turns *turns,
                 struct arena *arena);
/* Which messages the carrier takes into the running turn. -1: no memory. */
int reply_steered(struct tidings_reply *reply, const struct tidings_span *ids, size_t count,
                  struct arena *arena);
/* Actions: the messages that are offered, in order, with contents read from the store; or a turn of
 * the plugin's own that starts with `system_text`. Errors: STORE, NOMEM. */
int reply_offer(struct tidings_reply *reply, const struct turning *turning,
                struct tidings_span system_text, struct tidings_error *error);
int reply_abort(struct tidings_reply *reply, struct arena *arena); /* 0, or -1: no memory */
/* When the host should send `wake`. */
void reply_wake(struct tidings_reply *reply, const struct instance *instance,
                const struct settings *settings, const struct run *run, int64_t now_ms);

/* What is shown of a plan, and on what. */
struct showing {
  const struct instance *instance;
  const struct configuration *configuration;
  struct tidings_span session; /* its id */
  uint32_t session_number;
  bool chat_request;
  const struct plan *plan;
  const struct tidings_span *steered; /* contents of the messages that the delivery injects into the
                                         running turn, in order */
  size_t steered_count;
};

/* Puts a plan's lines into the reply: as notifications, and rendered; and the steered messages,
 * rendered. Errors: NOMEM, INVAL (the host's random failed). */
int reply_show(struct tidings_reply *reply, const struct showing *showing, struct arena *arena,
               struct tidings_error *error);

/* Hands the reply out: the arena goes with it and is empty afterwards. Cannot fail. */
const struct tidings_reply *reply_hand_out(struct tidings_reply *reply, struct instance *instance,
                                           struct arena *arena);
void reply_release(struct instance *instance,
                   const struct tidings_reply *reply); /* NULL is allowed */

#endif
