/* SPDX-License-Identifier: MIT
 *
 * agents/turn/stop.h: the end of a turn, and what it is answered.
 */
#ifndef AGENTS_TURN_STOP_H
#define AGENTS_TURN_STOP_H

#include "agents/call/call.h"
#include "agents/deliver/deliver.h"
#include "command/kit.h"

int32_t hook_turn_ended(struct hostkit *kit, const struct hook_call *call,
                        struct hook_answer *ret_answer, struct tidings_error *error);
int32_t hook_turn_failed(struct hostkit *kit, const struct hook_call *call,
                         struct tidings_error *error);

#endif
