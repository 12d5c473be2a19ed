/* SPDX-License-Identifier: MIT
 *
 * agents/wait/tasks.h: changes the file of an agent's scheduled tasks, a JSON array. As the agent
 * does, it meanwhile holds a lock, a file beside that one, and replaces the file in one step.
 * Others' tasks stay as they are.
 */
#ifndef AGENTS_WAIT_TASKS_H
#define AGENTS_WAIT_TASKS_H

#include <jansson.h>
#include <stdbool.h>

/* Adds a task, which is taken over. Removes tasks that killed processes have left: those whose ids
 * begin with "tidings-", and that have the same "sessionId" or are older than a minute. Returns 0
 * or an errno; EBADMSG: the file is not such an array. */
int hook_tasks_add(const char *path, json_t *task);
/* Removes the task with that id. */
int hook_tasks_remove(const char *path, const char *id);
/* Does the task record that it was run? Returns 0 or an errno; EIDRM: somebody has removed it,
 * perhaps before it was run. */
int hook_tasks_was_run(const char *path, const char *id, bool *ret_was);

#endif
