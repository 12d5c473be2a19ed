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

/* Sets op->known and op->session for the session op->name: from this process's memory, or if need
 * be from the store. Does nothing if op->known is set. op->known stays NULL if the store has no
 * such session. Errors: STORE, NOMEM. */
int attach_look_up(struct op *op, struct tidings_error *error);

/* Adds the session op->name if need be and attaches to it, in a transaction of its own. Sets
 * op->known and op->session. Errors: as attach_in_write, and BUSY for the store's writer lock. */
int attach_by_hook(struct op *op, struct tidings_error *error);

/* In a write, attaches the host and changes op->head; the caller stores it if *ret_changed.
 * `opening` is NULL for all events but session.opened, .resumed and .rewound. Leased deliveries
 * that it names are committed. All other leased deliveries are rolled back if it names any, or if
 * the owner is dead or was deposed. Errors: OWNED naming the living owner's pid, CLOSED for a host
 * whose session was taken over, STORE, NOMEM. */
int attach_in_write(struct op *op, const struct session_event *opening, bool *ret_changed,
                    struct tidings_error *error);

/* In a write: rolls back all leases of the session's last host. That is this host (`mine`), or a
 * dead host, whose turn is ended too. Changes op->head. Errors: FULL, STORE, NOMEM. */
int attach_recover(struct op *op, bool mine, struct tidings_error *error);

/* Sets op->newest to the newest delivery that the host has looked for in its transcript. Errors:
 * STORE, NOMEM. */
int attach_find_newest(struct op *op, const struct session_event *opening,
                       struct tidings_error *error);
/* Is delivery `n` newer than all that the host knew when it named its transcript's deliveries? */
static inline bool attach_is_later(const struct op *op, uint64_t n) {
  return op->newest && n > op->newest;
}

/* Did `host` have the session before it was taken over? */
bool attach_was_taken_over(const struct head *head, const struct owner *host);

#endif
