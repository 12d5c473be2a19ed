/* SPDX-License-Identifier: MIT
 *
 * agents/wait/again.h: reports an event once more that the store was too busy to take.
 */
#ifndef AGENTS_WAIT_AGAIN_H
#define AGENTS_WAIT_AGAIN_H

#include "agents/call/call.h"
#include "command/cli.h"

/* Call it after the answer if the call has failed with `code`. A session's start and the end of a
 * turn are reported by no later call, so this starts a process that tries again for a while. It
 * delivers nothing, because the answer is written. If it may wake the agent (`wakes`), it stays as
 * the process that does so (wait.h). Returns at once. The caller's kit must be closed. */
void hook_report_again(struct cli *cli, struct hook_call *call, uint32_t owner, int32_t code,
                       bool wakes);

#endif
