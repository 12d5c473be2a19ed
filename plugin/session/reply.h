/* SPDX-License-Identifier: MIT
 *
 * session/reply.h: makes the reply for the host. The reply lives in the arena of the call that made
 * it, and takes this arena over.
 */
#ifndef SESSION_REPLY_H
#define SESSION_REPLY_H

#include "render/render.h"
#include "rules/policy/plan.h"
#include "session/op.h"
#include "session/stored_run.h"

/* An empty reply in `arena`; it has no status yet. NULL: no memory. */
struct tidings_reply *reply_make(struct arena *arena);

/* In a transaction, adds the status: the ids of the turn, and the messages and calls that ran when
 * a host died. Errors: STORE, NOMEM. */
int reply_status(struct tidings_reply *reply, struct op *op, const struct turns *turns,
                 struct tidings_error *error);
/* Adds the ids of the messages that the carrier takes into the running turn. -1: no memory. */
int reply_steered(struct tidings_reply *reply, const struct tidings_span *ids, size_t count,
                  struct arena *arena);
/* Adds an action: the offered messages, in order, with contents read from the store; or a system
 * turn that starts with `system_text`. Errors: STORE, NOMEM. */
int reply_offer(struct tidings_reply *reply, struct op *op, const struct stored_run *stored,
                struct tidings_span system_text, struct tidings_error *error);
int reply_abort(struct tidings_reply *reply, struct arena *arena); /* 0, or -1: no memory */
int reply_stop(struct tidings_reply *reply, struct arena *arena);  /* the same */
/* Sets when the host should send `wake`. `next_ms`: when something else is due; 0: nothing else
 * is. */
void reply_wake(struct tidings_reply *reply, const struct op *op, const struct turns *turns,
                int64_t next_ms);

/* The lines that are shown, and their carrier. */
struct showing {
  bool chat_request; /* the carrier is a chat request; false: a tool result */
  bool bare;         /* the model knows what such a block is */
  const struct plan *plan;
  const struct tidings_span *steered; /* contents of the messages that the delivery injects into the
                                         running turn, in order */
  size_t steered_count;
  const struct rendering *as; /* see reply_frame_make */
};

/* Does the block need no preamble, because the model of this session has seen it, or because it is
 * switched off? */
bool reply_is_bare(const struct op *op);
/* All that the rendering needs besides the lines, their number and the number of waiting items. The
 * struct points into itself. */
struct reply_frame {
  struct nonce nonce;
  struct render_input input;
};
/* `as`: an earlier rendering to repeat; NULL: render by the configuration in force. */
void reply_frame_make(const struct op *op, bool chat_request, bool bare, const struct rendering *as,
                      struct reply_frame *ret_frame);

/* Puts a plan's lines into the reply, as notifications and as rendered text, and the steered
 * messages as rendered text. For session op->name with number op->session. Errors: NOMEM, INVAL
 * (the host's random failed). */
int reply_show(struct tidings_reply *reply, struct op *op, const struct showing *showing,
               struct tidings_error *error);

/* Returns a hash of all texts of the reply; *ret_bytes is how many bytes they have. */
uint64_t reply_hash(const struct tidings_reply *reply, uint64_t *ret_bytes);
/* Describes how the reply was rendered, for a delivery's row; in op's arena. Errors: NOMEM. */
int reply_rendering(const struct tidings_reply *reply, struct op *op, const struct showing *showing,
                    uint64_t room, struct rendering *ret_rendering, struct tidings_error *error);

/* Hands the reply out: op's arena goes with it and is empty afterwards. Cannot fail. */
const struct tidings_reply *reply_hand_out(struct tidings_reply *reply, struct op *op);
void reply_release(struct instance *instance,
                   const struct tidings_reply *reply); /* NULL is allowed */

#endif
