/* SPDX-License-Identifier: MIT
 *
 * agents/wait/tasks.h: changes the file of an agent's scheduled tasks, a JSON array. Like the
 * agent's processes, it holds a lock meanwhile, which is a file beside that one, and replaces the
 * file in one step. Tasks of others stay as they are.
 */
#ifndef AGENTS_WAIT_TASKS_H
#define AGENTS_WAIT_TASKS_H

#include <jansson.h>
#include <stdbool.h>

/* Adds a task, which is taken over, and removes those that killed processes have left: their ids
 * begin with "tidings-", and they are of the same "sessionId" or older than a minute. Returns 0 or
 * an errno; EBADMSG: the file is not such an array.
 */
int hook_tasks_add(const char *path, json_t *task);
/* Removes the task of that id. */
int hook_tasks_remove(const char *path, const char *id);
/* Does the task say when it was run? Returns 0 or an errno; EIDRM: somebody has removed it, so
 * nothing may have run it. */
int hook_tasks_was_run(const char *path, const char *id, bool *ret_was);

#endif
