/* SPDX-License-Identifier: MIT
 *
 * agents/wait/apart.h: a process that continues after the hook's end.
 */
#ifndef AGENTS_WAIT_APART_H
#define AGENTS_WAIT_APART_H

#include <stdbool.h>

/* Forks. Returns true in the new process, for which no agent waits and which must end with _exit,
 * and false in the hook's own process. */
bool hook_fork_apart(void);

#endif
