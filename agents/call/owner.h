/* SPDX-License-Identifier: MIT
 *
 * agents/call/owner.h: which process is the agent that calls a hook.
 */
#ifndef AGENTS_CALL_OWNER_H
#define AGENTS_CALL_OWNER_H

#include <stdint.h>

#include "agents/hosts/hosts.h"

/* The nearest process above this one that is no shell, and nothing that a shell's command line puts
 * in between (env, timeout, ...). 0: this process is an orphan, because the agent or a process in
 * between has ended; what has taken it in is no agent. Ask before anything that may wait: the agent
 * may end meanwhile. */
uint32_t hook_owner(const struct host *host);

#endif
