/* SPDX-License-Identifier: MIT
 *
 * agents/wait/apart.h: a process that continues after the hook's end.
 */
#ifndef AGENTS_WAIT_APART_H
#define AGENTS_WAIT_APART_H

#include <stdbool.h>

/* Forks. Returns false in the hook's own process, and true in the new one, which no agent waits for
 * and which must end with _exit. */
bool hook_fork_apart(void);

#endif
