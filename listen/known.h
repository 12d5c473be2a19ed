/* SPDX-License-Identifier: MIT
 *
 * listen/known.h: the latest events that were stored in a session, and in which: after /clear the
 * next session does not know them. Any thread may call these.
 */
#ifndef LISTEN_KNOWN_H
#define LISTEN_KNOWN_H

#include <stdbool.h>

#include "common/buffer.h"

/* Was this event of a route stored in another session than this one, within four days? */
bool listen_known_elsewhere(struct tidings_span route, struct tidings_span id,
                            struct tidings_span session);
void listen_known_note(struct tidings_span route, struct tidings_span id,
                       struct tidings_span session);

#endif
