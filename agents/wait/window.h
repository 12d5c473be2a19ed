/* SPDX-License-Identifier: MIT
 *
 * agents/wait/window.h: finds the window that shows a session, if a daemon that outlives its
 * windows calls the agent's hooks (Codex's app server). Then the window is the session's process,
 * because nobody sees the turns of a session whose window was closed.
 */
#ifndef AGENTS_WAIT_WINDOW_H
#define AGENTS_WAIT_WINDOW_H

#include "agents/call/call.h"
#include "command/cli.h"

/* Returns the process to which the session belongs: `owner`, or the window if `owner` is such a
 * daemon. The window is chosen when a session begins or a person prompts, and stays the session's
 * while it lives. Sets call->moved, call->unseen and call->of_daemon. */
uint32_t hook_window(const struct cli *cli, struct hook_call *call, uint32_t owner);

/* Is this process such a daemon? */
bool hook_window_is_of(const struct host *host, uint32_t pid);

/* Does a window of `daemon` work in this folder that is not known to show another session? */
bool hook_window_is_free_in(const struct cli *cli, const struct hook_call *call, uint32_t daemon,
                            const char *folder);

/* Has `daemon` already loaded the session? True if a hook or hook_window_loaded has recorded that,
 * and no hook has since recorded the session's end. */
bool hook_window_is_loaded(const struct cli *cli, const struct hook_call *call, uint32_t daemon);
void hook_window_loaded(const struct cli *cli, const struct hook_call *call, uint32_t daemon);

/* The session has ended, though its window may go on with another one. `owner` is as in
 * hook_window. */
void hook_window_forget(const struct cli *cli, const struct hook_call *call, uint32_t owner);

#endif
