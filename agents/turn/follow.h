/* SPDX-License-Identifier: MIT
 *
 * agents/turn/follow.h: a new conversation that a person begins in the same window.
 */
#ifndef AGENTS_TURN_FOLLOW_H
#define AGENTS_TURN_FOLLOW_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Call it at the start of a session that follows another one in the same window (`/clear`). The
 * other session's pending notifications and queued messages pass to this one. `owner`: the agent's
 * process. */
int32_t hook_follow(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                    struct tidings_error *error);

#endif
