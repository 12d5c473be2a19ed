/* SPDX-License-Identifier: MIT
 *
 * agents/call/caller.h: finds the agent that has made a hook call. Setup writes a hook for one
 * agent, but other programs also read the file that has it.
 */
#ifndef AGENTS_CALL_CALLER_H
#define AGENTS_CALL_CALLER_H

#include <jansson.h>

#include "agents/hosts/hosts.h"

/* `host`: the agent for which setup has written the hook. Returns this agent, or another one that
 * uses its hooks; NULL: the caller is unknown. */
const struct host *hook_caller(const struct host *host, const json_t *input);

#endif
