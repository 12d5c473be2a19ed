/* SPDX-License-Identifier: MIT
 *
 * agents/wait/limit.h: limits the CPU time of a hook's call until its answer is written, because an
 * agent's transcript may contain anything, and the agent waits.
 */
#ifndef AGENTS_WAIT_LIMIT_H
#define AGENTS_WAIT_LIMIT_H

/* Begins the limit. A call that exceeds it answers {}, writes a line to the log and ends with
 * status 0. While signals are blocked (interrupt_begin), an answer is being written, and the limit
 * waits. */
void hook_limit_begin(void);
/* Ends the limit after the answer. Later work, and processes that the call starts, have no such
 * limit. */
void hook_limit_end(void);

#endif
