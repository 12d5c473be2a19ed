/* SPDX-License-Identifier: MIT
 *
 * agents/turn/subagent.h: for an agent whose subagents' hooks look like its own. While the
 * tool that runs a subagent runs, the session is "waiting", and tool results are not the session's.
 */
#ifndef AGENTS_TURN_SUBAGENT_H
#define AGENTS_TURN_SUBAGENT_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Whether this is a call of the tool that runs one. */
bool hook_runs_subagent(const struct hook_call *call);

/* A subagent is about to start. */
int32_t hook_subagent_starts(struct hostkit *kit, const struct hook_call *call,
                             struct tidings_error *error);

/* How many work now; whether this result is one of theirs (*ret_inner). 0 where the agent says
 * whose hook it is. */
int32_t hook_subagents(struct hostkit *kit, const struct hook_call *call, size_t *ret_count,
                       bool *ret_inner, struct tidings_error *error);

/* After the result of the tool that runs one was a carrier: `count` worked until then. */
int32_t hook_subagent_ended(struct hostkit *kit, const struct hook_call *call, size_t count,
                            struct tidings_error *error);

#endif
