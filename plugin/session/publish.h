/* SPDX-License-Identifier: MIT
 *
 * session/publish.h: the phase of a turn and the calls that run are kept in memory that the
 * processes of a machine share. If other machines use the store, they are committed once they have
 * differed from the committed state for PUBLISH_AFTER_MS; most calls are over by then. Only the
 * owner does this, in a thread of its own (instance/publisher.h).
 */
#ifndef SESSION_PUBLISH_H
#define SESSION_PUBLISH_H

#include "session/op.h"

enum { PUBLISH_AFTER_MS = 2000 };

/* May the phase and the calls of the session be kept in memory? False: they are to be committed. */
bool publish_can_wait(struct op *op);
/* To be called with the session's lock, when the phase in memory differs from the committed one. */
void publish_phase(struct op *op);
/* To be called with the session's lock, after an event that was not committed. `row`: the calls
 * that were committed when the event was decided. */
void publish_event(struct op *op, const struct memory *row);

/* Copies the calls that the session's owner of this epoch keeps in memory, if there are any.
 * Errors: NOMEM. */
int publish_get_calls(struct op *op, uint64_t epoch, struct memory *ret_calls,
                      struct tidings_error *error);

#endif
