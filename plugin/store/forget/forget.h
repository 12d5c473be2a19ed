/* SPDX-License-Identifier: MIT
 *
 * store/forget/forget.h: deletes everything of one session on request.
 */
#ifndef STORE_FORGET_FORGET_H
#define STORE_FORGET_FORGET_H

#include "store/db/remote.h"
#include "store/store.h"

/* The store may be in use. The session's history goes in portions, each a commit; the rest, with
 * head and name, in one. `dry_run`: it is only counted. *ret_gone: what has gone, or would. Errors:
 * NOT_FOUND (the store has nothing of such a session), STATE (its host is alive: nothing that is
 * pending is gone, and all of its history that is gone was of no use to the host), BUSY, STORE,
 * NOMEM. */
int store_forget_session(struct store *store, struct tidings_span session, bool dry_run,
                         struct db_forgotten *ret_gone, struct tidings_error *error);

#endif
