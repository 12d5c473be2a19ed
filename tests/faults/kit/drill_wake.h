/* SPDX-License-Identifier: MIT
 *
 * kit/drill_wake.h: the drill's operations on tidings.wake/1, for the table in drill.c. The session
 * that rang must be named afterwards, whatever fails.
 */
#ifndef KIT_DRILL_WAKE_H
#define KIT_DRILL_WAKE_H

#include "kit/drill.h"

/* `session` is the drill's. Attempts are made with faults, checks without. A check returns what is
 * wrong, or NULL. */
int32_t drill_descriptor(struct drill *drill, struct tidings_error *error);
int32_t drill_next_session(struct drill *drill, struct tidings_error *error);
int32_t drill_push_ringing(struct drill *drill, const char *session, uint64_t token,
                           struct tidings_error *error);
const char *drill_check_named(struct drill *drill, const char *session);
const char *drill_check_descriptor(struct drill *drill);

#endif
