/* SPDX-License-Identifier: MIT
 *
 * agents/wait/wait.h: waking an agent that is idle. A hook is only called when something
 * happens in the agent; so a process has to sleep on the wake descriptor for it, as long as
 * the agent lives. There is at most one such process for a session, and none for an orphan, whose
 * `owner` is 0: call/owner.h.
 */
#ifndef AGENTS_WAIT_WAIT_H
#define AGENTS_WAIT_WAIT_H

#include "agents/call/call.h"
#include "command/cli.h"

/* For a hook that the agent keeps in the background: sleeps until there is a turn to start, says so
 * on stderr and returns 2, the exit status that wakes the agent. Returns 0 at once where that would
 * stop the agent instead (it runs without a terminal), and when another process waits already; and
 * when the agent has ended. */
int hook_wait_rewake(struct cli *cli, const struct hook_call *call, uint32_t owner);

/* For an agent that takes messages from outside ("codex queue"), or whose window runs scheduled
 * tasks: starts a process of its own that gives it one whenever there is a turn to start, and ends
 * with the agent. Returns at once. The caller's kit must be closed. */
void hook_wait_apart(struct cli *cli, const struct hook_call *call, uint32_t owner);

/* A turn has ended: what waits for the session looks whether something was kept back. */
void hook_wait_look(const struct cli *cli, const struct hook_call *call, uint32_t owner);

/* The session has ended, though the agent may live on with another one: ends what waits for it. */
void hook_wait_end(const struct cli *cli, const struct hook_call *call, uint32_t owner);

#endif
