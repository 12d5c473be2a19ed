/* SPDX-License-Identifier: MIT
 *
 * agents/call/owner.h: which process is the agent that calls a hook.
 */
#ifndef AGENTS_CALL_OWNER_H
#define AGENTS_CALL_OWNER_H

#include <stdint.h>

#include "agents/hosts/hosts.h"

enum { OWNER_WHY_SIZE = 512 };

/* The nearest process above this one that is the agent, by its program, its name or the script that
 * it runs. Else the nearest one that is no shell, and nothing that a command line puts in between
 * (env, flock, ...). 0: there is none, and `why` says so for people: the agent, or a process in
 * between, has ended, or is hidden. Ask before anything that may wait: the agent may end meanwhile.
 * `host` NULL: no name is known, and `why` stays empty. */
uint32_t hook_owner(const struct host *host, char why[OWNER_WHY_SIZE]);

/* How a line of the log goes on that says that a session has no process that lasts: doctor looks
 * for both. */
#define OWNER_NOT_FOUND "no agent found"
#define OWNER_HAS_ENDED "the session's process has ended between two calls"

#endif
