/* SPDX-License-Identifier: MIT
 *
 * agents/wait/reload.h: notices that a window shows a session again. The agent's daemon calls no
 * hook for that before the first prompt; but it loads the session anew: it calls the hook for the
 * session's end, closes the transcript and opens it again. If it only unloads the session, it does
 * not open the transcript again.
 */
#ifndef AGENTS_WAIT_RELOAD_H
#define AGENTS_WAIT_RELOAD_H

#include "agents/call/call.h"
#include "command/cli.h"

/* In the hook for a session's end: starts a process that watches the transcript for some seconds.
 * If a window shows the session again, that process stays, to wake it (wait.h). Returns at once.
 * Does nothing if `owner`, the call's process, is no daemon. The kit must be closed. */
void hook_reload_watch(struct cli *cli, struct hook_call *call, uint32_t owner);

/* For a process that `daemon` starts when it has loaded a session. For some seconds, it looks among
 * the daemon's open transcripts for sessions that the daemon has newly loaded and that no process
 * waits for. If a window shows such a session, it starts a process that wakes it (wait.h). Returns
 * after these seconds. */
void hook_reload_find(struct cli *cli, const struct host *host, uint32_t daemon);

#endif
