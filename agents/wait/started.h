/* SPDX-License-Identifier: MIT
 *
 * agents/wait/started.h: when a process was started, by which it is known from a later one of the
 * same number.
 */
#ifndef AGENTS_WAIT_STARTED_H
#define AGENTS_WAIT_STARTED_H

#include <stdint.h>

/* In ticks since the machine was started. 0: there is no such process, or it has ended. */
uint64_t hook_started_at(uint32_t pid);

#endif
