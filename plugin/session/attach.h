/* SPDX-License-Identifier: MIT
 *
 * session/attach.h: who owns a session. A host attaches by session.opened, session.resumed or its
 * first hook call. Attaching to a session whose owner is dead resolves what that owner had leased,
 * and makes its run idle.
 */
#ifndef SESSION_ATTACH_H
#define SESSION_ATTACH_H

#include "session/op.h"
#include "values/event.h"

/* The session op->name as this process remembers it, unless op->known says already, looked up in
 * the store if need be: sets op->known and op->session. op->known stays NULL if the store has no
 * such session. Errors: STORE, NOMEM. */
int attach_look_up(struct op *op, struct tidings_error *error);

/* Adds the session op->name if need be and attaches to it, in a transaction of its own. Sets
 * op->known and op->session. Errors: as attach_in_write, and BUSY for the store's writer lock. */
int attach_by_hook(struct op *op, struct tidings_error *error);

/* In a write, changes op->head; the caller puts it if *ret_changed. `opening` is NULL for all but
 * session.opened, .resumed and .rewound. Deliveries that it names are committed; the others of a
 * dead or deposed owner, and all others when it names any, are rolled back. Errors: BUSY naming the
 * living owner's pid, CLOSED for one whose session was taken over, STORE, NOMEM. */
int attach_in_write(struct op *op, const struct session_event *opening, bool *ret_changed,
                    struct tidings_error *error);

/* In a write: ends what the session's last host, this one (`mine`) or one that is dead, had leased,
 * as rolled back, and of a dead one the turn too. Changes op->head. Errors: FULL, STORE, NOMEM. */
int attach_recover(struct op *op, bool mine, struct tidings_error *error);

/* Looks up which delivery is the newest that the host has looked for: op->newest. Errors: STORE,
 * NOMEM. */
int attach_find_newest(struct op *op, const struct session_event *opening,
                       struct tidings_error *error);
/* Did the host that says what its transcript has not know of delivery `n` yet? */
static inline bool attach_is_later(const struct op *op, uint64_t n) {
  return op->newest && n > op->newest;
}

/* Did `host` have the session before it was taken over? */
bool attach_was_taken_over(const struct head *head, const struct owner *host);

#endif
