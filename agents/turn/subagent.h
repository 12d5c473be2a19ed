/* SPDX-License-Identifier: MIT
 *
 * agents/turn/subagent.h: for an agent whose subagents' hooks look like its own. While a tool runs
 * a subagent, the session is "waiting", and the results of other tools are the subagent's.
 */
#ifndef AGENTS_TURN_SUBAGENT_H
#define AGENTS_TURN_SUBAGENT_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Is this a call of a tool that runs a subagent? */
bool hook_runs_subagent(const struct hook_call *call);

/* Reports that a subagent is about to start. */
int32_t hook_subagent_starts(struct hostkit *kit, const struct hook_call *call,
                             struct tidings_error *error);

/* *ret_count: how many subagents work now; 0 if the agent's hooks say whose they are. *ret_inner:
 * does this result belong to one of them? */
int32_t hook_subagents(struct hostkit *kit, const struct hook_call *call, size_t *ret_count,
                       bool *ret_inner, struct tidings_error *error);

/* Call it after the answer to the result of a tool that runs a subagent. `count`: how many
 * subagents worked until then. */
int32_t hook_subagent_ended(struct hostkit *kit, const struct hook_call *call, size_t count,
                            struct tidings_error *error);

/* After the call was answered: reports the result of a tool that runs a subagent. */
int32_t hook_subagent_ended_late(struct hostkit *kit, const struct hook_call *call,
                                 struct tidings_error *error);

#endif
