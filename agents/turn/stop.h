/* SPDX-License-Identifier: MIT
 *
 * agents/turn/stop.h: reports the end of a turn, and answers the agent's hook.
 */
#ifndef AGENTS_TURN_STOP_H
#define AGENTS_TURN_STOP_H

#include "agents/call/call.h"
#include "agents/deliver/deliver.h"
#include "command/kit.h"

int32_t hook_turn_ended(struct hostkit *kit, const struct hook_call *call,
                        struct hook_answer *ret_answer, struct tidings_error *error);
/* Reports the end of the call's turn, or a person's stop, after the call was answered. A turn that
 * the plugin then offers is left to a process that waits (`keeps`), or is declined. */
int32_t hook_turn_ended_late(struct hostkit *kit, const struct hook_call *call, bool keeps,
                             struct tidings_error *error);
int32_t hook_turn_failed(struct hostkit *kit, const struct hook_call *call,
                         struct tidings_error *error);

#endif
