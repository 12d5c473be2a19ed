/* SPDX-License-Identifier: MIT
 *
 * agents/wait/scheduler.h: wakes an agent whose window runs scheduled tasks (struct
 * host_scheduler). The window runs a task that is bound to it and overdue as soon as it idles. The
 * task's prompt is our command, for which the agent calls a hook, and that hook's answer delivers
 * everything.
 */
#ifndef AGENTS_WAIT_SCHEDULER_H
#define AGENTS_WAIT_SCHEDULER_H

#include "agents/call/call.h"
#include "command/cli.h"

/* Did a window that knows the command make this call? At its session's start it runs no tasks
 * yet. */
bool hook_scheduler_may_take(const struct hook_call *call);
/* Does the window run such tasks now? `owner`: its process. */
bool hook_scheduler_takes(const struct hook_call *call, uint32_t owner);
/* Waits until it does. False: it has ended, or it runs no tasks within some seconds, so nothing can
 * wake it. */
bool hook_scheduler_begins(const struct hook_call *call, uint32_t owner);

/* Call it at a session's start. Notes the window's first session: the window runs only tasks that
 * are bound to that one, whichever session it shows. */
void hook_scheduler_note(const struct hook_call *call, uint32_t owner);

/* Gives the window a task, waits until the window has taken it, and removes it. `mark`: the
 * command's argument, only letters, digits and hyphens. Returns 0; or -1, which the log explains:
 * the window has not taken the task, and will not. `ended`: readable when the agent has ended. */
int hook_scheduler_run(const struct hook_call *call, uint32_t owner, const char *mark, int ended);

#endif
