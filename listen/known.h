/* SPDX-License-Identifier: MIT
 *
 * listen/known.h: remembers in which sessions the newest events were stored, because after /clear
 * the next session does not know them. Any thread may call these.
 */
#ifndef LISTEN_KNOWN_H
#define LISTEN_KNOWN_H

#include <stdbool.h>

#include "common/buffer.h"

/* Was this event of the route stored in another session within four days? */
bool listen_known_elsewhere(struct tidings_span route, struct tidings_span id,
                            struct tidings_span session);
void listen_known_note(struct tidings_span route, struct tidings_span id,
                       struct tidings_span session);

#endif
