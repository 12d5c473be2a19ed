/* SPDX-License-Identifier: MIT
 *
 * session/inherit.h: ends copies in a forked session whose originals were delivered by the parent,
 * if the child's transcript has that delivery.
 */
#ifndef SESSION_INHERIT_H
#define SESSION_INHERIT_H

#include "session/op.h"
#include "values/event.h"

/* In a write: ends each pending copy whose original a named delivery of the parent has ended, in
 * the same way. Copies of items that were withdrawn on their carrier all end when the first host
 * comes. `named` NULL: no delivery is named. Changes op->head; the caller puts it. Errors: FULL,
 * STORE, NOMEM. */
int inherit_named(struct op *op, const struct session_event *named, struct tidings_error *error);

#endif
