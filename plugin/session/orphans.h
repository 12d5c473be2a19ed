/* SPDX-License-Identifier: MIT
 *
 * session/orphans.h: the calls of tools that ran when a session's host died. The next host of the
 * session has to end them in its transcript; replies name them until the next turn starts.
 */
#ifndef SESSION_ORPHANS_H
#define SESSION_ORPHANS_H

#include "session/op.h"

/* Remembers the calls that ran in the host of this epoch, which has died; *ret_any: there were
 * some. Call it in a write. Errors: STORE, NOMEM. */
int orphans_find(struct op *op, uint64_t epoch, bool *ret_any, struct tidings_error *error);
/* Returns the remembered calls in the order of their starts; none if run->calls_orphaned is false.
 * Their text is in op's arena. Errors: STORE, NOMEM. */
int orphans_get(struct op *op, const struct run *run, struct memory *ret_memory,
                struct tidings_error *error);

#endif
