/* SPDX-License-Identifier: MIT
 *
 * agents/turn/turns.h: handles a hook call, and makes the answer. It prints nothing.
 */
#ifndef AGENTS_TURN_TURNS_H
#define AGENTS_TURN_TURNS_H

#include "agents/call/call.h"
#include "agents/deliver/deliver.h"
#include "command/kit.h"

/* `owner`: the agent's process; 0: it is not known, and this process is the host while it runs. On
 * failure the answer is empty, and nothing of this call stays leased. */
int32_t hook_answer_call(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                         struct hook_answer *ret_answer, struct tidings_error *error);

#endif
