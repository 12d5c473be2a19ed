/* SPDX-License-Identifier: MIT
 *
 * agents/wait/reload.h: a session that a window shows again. The agent's daemon says so to no hook
 * before the first prompt; but it reads the session anew: it calls the hook for the session's end,
 * closes the transcript and opens it again. If it only unloads the session, it does not open it.
 */
#ifndef AGENTS_WAIT_RELOAD_H
#define AGENTS_WAIT_RELOAD_H

#include "agents/call/call.h"
#include "command/cli.h"

/* In the hook for a session's end: starts a process that watches the transcript for some seconds.
 * If a window shows the session again, it stays as the process that wakes it (wait.h). Returns at
 * once. `owner`: of the hook's call; if it is no daemon, nothing is done. The kit must be closed.
 */
void hook_reload_watch(struct cli *cli, struct hook_call *call, uint32_t owner);

/* In a process that `daemon` starts when it has loaded a session: looks for some seconds which of
 * its transcripts are of sessions that it did not have before, and that have no process. If a
 * window shows one of them, a process is started that wakes it (wait.h). Returns after these
 * seconds. */
void hook_reload_find(struct cli *cli, const struct host *host, uint32_t daemon);

#endif
