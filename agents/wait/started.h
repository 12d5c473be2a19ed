/* SPDX-License-Identifier: MIT
 *
 * agents/wait/started.h: the time when a process was started distinguishes it from a later one with
 * the same pid.
 */
#ifndef AGENTS_WAIT_STARTED_H
#define AGENTS_WAIT_STARTED_H

#include <stdint.h>

/* Returns it, in ticks since the machine was started. 0: there is no such process, or it has
 * ended. */
uint64_t hook_started_at(uint32_t pid);

#endif
