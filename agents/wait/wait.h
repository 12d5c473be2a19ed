/* SPDX-License-Identifier: MIT
 *
 * agents/wait/wait.h: wakes an idle agent. The agent calls a hook only when something happens in
 * it, so a process has to wait at the wake descriptor while the agent lives. A session has at most
 * one such process; it has none if its agent's process is not known (`owner` 0: call/owner.h).
 */
#ifndef AGENTS_WAIT_WAIT_H
#define AGENTS_WAIT_WAIT_H

#include "agents/call/call.h"
#include "command/cli.h"

/* For a hook that the agent keeps in the background: sleeps until there is a turn to start, says so
 * on stderr and returns 2, the exit status that wakes the agent. Returns 0 when the agent has
 * ended, and at once if another process already waits, or if the agent runs without a terminal,
 * because then 2 would stop it. */
int hook_wait_rewake(struct cli *cli, const struct hook_call *call, uint32_t owner);

/* For an agent that takes messages from outside ("codex queue"), or whose window runs scheduled
 * tasks: starts a process that gives the agent a message or a task whenever there is a turn to
 * start, and that ends with the agent. Returns at once. The caller's kit must be closed. */
void hook_wait_apart(struct cli *cli, const struct hook_call *call, uint32_t owner);

/* Call it when a turn has ended: the process that waits for the session then looks for a turn to
 * start. */
void hook_wait_look(const struct cli *cli, const struct hook_call *call, uint32_t owner);

/* Call it when the session has ended, though the agent may go on with another session: ends the
 * process that waits. */
void hook_wait_end(const struct cli *cli, const struct hook_call *call, uint32_t owner);

#endif
