/* SPDX-License-Identifier: MIT
 *
 * agents/wait/window.h: the window that shows a session, where the agent's hooks are called by a
 * daemon that outlives its windows (Codex's app server). The window is the session's process then:
 * nobody sees the turns of a session whose window was closed.
 */
#ifndef AGENTS_WAIT_WINDOW_H
#define AGENTS_WAIT_WINDOW_H

#include "agents/call/call.h"
#include "command/cli.h"

/* Returns the process to which the session belongs: `owner`, or the window if `owner` is such a
 * daemon. It is found when a session begins or a person prompts, and kept as long as it lives. Sets
 * call->moved and call->unseen. */
uint32_t hook_window(const struct cli *cli, struct hook_call *call, uint32_t owner);

/* Is this process such a daemon? */
bool hook_window_is_of(const struct host *host, uint32_t pid);

/* Does a window of `daemon` work in this folder of which no other session than the call's is known?
 */
bool hook_window_is_free_in(const struct cli *cli, const struct hook_call *call, uint32_t daemon,
                            const char *folder);

/* Has `daemon` had the session since before? A hook, or the second function, has said so, and no
 * hook has said since that the daemon has ended it. */
bool hook_window_is_loaded(const struct cli *cli, const struct hook_call *call, uint32_t daemon);
void hook_window_loaded(const struct cli *cli, const struct hook_call *call, uint32_t daemon);

/* The session has ended, though its window may go on with another one. `owner` as above. */
void hook_window_forget(const struct cli *cli, const struct hook_call *call, uint32_t owner);

#endif
