/* SPDX-License-Identifier: MIT
 *
 * agents/wait/scheduler.h: wakes an agent whose window runs scheduled tasks (struct
 * host_scheduler): a task that is bound to the window and was due before is run as soon as the
 * window idles. Its prompt is a command of ours, for which the agent calls a hook, so everything
 * that the model is to read comes with that hook's answer.
 */
#ifndef AGENTS_WAIT_SCHEDULER_H
#define AGENTS_WAIT_SCHEDULER_H

#include "agents/call/call.h"
#include "command/cli.h"

/* Has a window made this call, which knows the command? When its session starts, it runs no tasks
 * yet. */
bool hook_scheduler_may_take(const struct hook_call *call);
/* Does it run such tasks now? `owner`: its process. */
bool hook_scheduler_takes(const struct hook_call *call, uint32_t owner);
/* Waits until it does. False: it has ended, or runs none within some seconds, and nothing can wake
 * it. */
bool hook_scheduler_begins(const struct hook_call *call, uint32_t owner);

/* At a session's start: notes under which session the window knows its tasks, which stays the first
 * one that it has shown. */
void hook_scheduler_note(const struct hook_call *call, uint32_t owner);

/* Gives the window a task, waits until it has taken it, and removes it. `mark`: what the command
 * gets, letters, digits and hyphens only. Returns 0; or -1, which the log explains: it has not
 * taken the task, and will not. `ended`: readable when the agent has ended. */
int hook_scheduler_run(const struct hook_call *call, uint32_t owner, const char *mark, int ended);

#endif
