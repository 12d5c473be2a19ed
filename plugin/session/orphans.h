/* SPDX-License-Identifier: MIT
 *
 * session/orphans.h: the calls of tools that ran when a session's host died. The next host of the
 * session has to end them in its transcript; replies name them until the next turn starts.
 */
#ifndef SESSION_ORPHANS_H
#define SESSION_ORPHANS_H

#include "session/op.h"

/* In a write, after the host of this epoch has died: if calls of that host were running, remembers
 * them and sets *ret_any. Errors: STORE, NOMEM. */
int orphans_find(struct op *op, uint64_t epoch, bool *ret_any, struct tidings_error *error);
/* The remembered calls; none if the run says that there are none. Text is in op's arena.
 * Errors: STORE, NOMEM. */
int orphans_get(struct op *op, const struct run *run, struct memory *ret_memory,
                struct tidings_error *error);

#endif
