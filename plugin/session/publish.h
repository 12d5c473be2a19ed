/* SPDX-License-Identifier: MIT
 *
 * session/publish.h: the phase of a turn and the calls that run are kept in memory that the
 * processes of a machine share. For other machines, where a store has any, they are committed once
 * they have differed from what is committed for PUBLISH_AFTER_MS: most calls are over by then. The
 * owner must be this process, whose thread does it (instance/publisher.h).
 */
#ifndef SESSION_PUBLISH_H
#define SESSION_PUBLISH_H

#include "session/op.h"

enum { PUBLISH_AFTER_MS = 2000 };

/* May what this host says of a session be kept in memory? False: it is to be committed. */
bool publish_can_wait(struct op *op);
/* The phase in memory is not what is committed. With the session's lock. */
void publish_phase(struct op *op);
/* After an event that was not committed, with the session's lock; `row`: what was committed of the
 * calls when it was decided. */
void publish_event(struct op *op, const struct memory *row);

/* Copies the calls that the session's owner of this epoch keeps in memory; none if there are none.
 * Errors: NOMEM. */
int publish_get_calls(struct op *op, uint64_t epoch, struct memory *ret_calls,
                      struct tidings_error *error);

#endif
