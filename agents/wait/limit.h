/* SPDX-License-Identifier: MIT
 *
 * agents/wait/limit.h: how much CPU a hook's call may use until its answer is written: an agent's
 * transcript may hold anything, and the agent waits.
 */
#ifndef AGENTS_WAIT_LIMIT_H
#define AGENTS_WAIT_LIMIT_H

/* From here on. A call that uses more answers {}, says so in the log and ends with status 0; but
 * not while signals wait (interrupt_begin), because then something is on its way to the model. */
void hook_limit_begin(void);
/* The call has its answer; what goes on afterwards, and what it starts, has no limit of ours. */
void hook_limit_end(void);

#endif
