/* SPDX-License-Identifier: MIT
 *
 * agents/call/owner.h: finds the process of the agent that calls a hook.
 */
#ifndef AGENTS_CALL_OWNER_H
#define AGENTS_CALL_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/hosts/hosts.h"

enum { OWNER_WHY_SIZE = 512 };

/* Returns the nearest ancestor of this process that is the agent, by its program, its name or its
 * script; if none is, the nearest one that is neither a shell nor a wrapper of command lines (env,
 * flock, ...). 0: there is none, and `why` explains that for people: the agent, or a process
 * between the two, has ended or is hidden. Call it before anything that may wait, because the agent
 * may end meanwhile. `host` NULL: no name is known, and `why` stays empty. */
uint32_t hook_owner(const struct host *host, char why[OWNER_WHY_SIZE]);

/* Is this process the agent, by the same names? False: it may have ended. */
bool hook_owner_is(uint32_t pid, const struct host *host);

/* Parts of lines in the log about sessions without a lasting process; doctor looks for both. */
#define OWNER_NOT_FOUND "no agent found"
#define OWNER_HAS_ENDED "the session's process has ended between two calls"

#endif
