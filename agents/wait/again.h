/* SPDX-License-Identifier: MIT
 *
 * agents/wait/again.h: reports an event again if the store was too busy to take it.
 */
#ifndef AGENTS_WAIT_AGAIN_H
#define AGENTS_WAIT_AGAIN_H

#include "agents/call/call.h"
#include "command/cli.h"

/* Does the call report an event that no later call reports? */
bool hook_reports_again(const struct hook_call *call);

/* Call it after the answer if the call has failed with `code`. If no later call reports its event,
 * this starts a process that tries again for a while. It delivers nothing, because the answer is
 * written. If it may wake the agent (`wakes`), it then becomes the process that does so (wait.h).
 * Returns at once. The caller's kit must be closed. */
void hook_report_again(struct cli *cli, struct hook_call *call, uint32_t owner, int32_t code,
                       bool wakes);

#endif
