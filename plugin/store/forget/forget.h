/* SPDX-License-Identifier: MIT
 *
 * store/forget/forget.h: deletes everything of one session on request.
 */
#ifndef STORE_FORGET_FORGET_H
#define STORE_FORGET_FORGET_H

#include "store/db/remote.h"
#include "store/store.h"

/* The store may be in use. The session's history is deleted in portions, each with a commit; the
 * rest, with head and name, in one commit. `dry_run`: everything is only counted. *ret_gone: how
 * much was or would be deleted. Errors: NOT_FOUND (the store has no such session), STATE (its host
 * is alive: nothing pending was deleted, and at most history that the host does not need), BUSY,
 * STORE, NOMEM. */
int store_forget_session(struct store *store, struct tidings_span session, bool dry_run,
                         struct db_forgotten *ret_gone, struct tidings_error *error);

#endif
