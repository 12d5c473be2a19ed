/* SPDX-License-Identifier: MIT
 *
 * agents/wait/apart.h: a process that goes on when the hook has ended.
 */
#ifndef AGENTS_WAIT_APART_H
#define AGENTS_WAIT_APART_H

#include <stdbool.h>

/* Returns true in a new process, which no agent waits for and which ends with _exit; false in the
 * hook's own. */
bool hook_fork_apart(void);

#endif
