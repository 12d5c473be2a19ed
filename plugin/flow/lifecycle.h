/* SPDX-License-Identifier: MIT
 *
 * flow/lifecycle.h: what the ends and turns of a session's life do to its notifications: closed,
 * forked, compacted. What they do to its run is the machine's.
 */
#ifndef FLOW_LIFECYCLE_H
#define FLOW_LIFECYCLE_H

#include "session/stage.h"

/* The host's last word: all that is leased or pending has ended, and nobody owns the session.
 * Changes the stage's head. Errors: BUSY (somebody else's, and alive), STORE, NOMEM. */
int close_session(struct stage *stage, struct tidings_error *error);

/* The child starts with a copy of what is pending. Errors: FULL (the child has too much), STORE,
 * NOMEM. */
int fork_session(struct stage *stage, struct tidings_span child, struct tidings_error *error);

/* What is pending and queued, as one JSON object, for the summary of what was said before. */
int ledger_of_session(struct stage *stage, struct tidings_span *ret_json,
                      struct tidings_error *error);

#endif
