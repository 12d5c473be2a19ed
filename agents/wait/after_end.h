/* SPDX-License-Identifier: MIT
 *
 * agents/wait/after_end.h: settles deliveries that are still leased when an agent ends.
 */
#ifndef AGENTS_WAIT_AFTER_END_H
#define AGENTS_WAIT_AFTER_END_H

#include "agents/call/call.h"
#include "command/cli.h"

/* Call it at a session's end if deliveries are still leased. Some agents write the last part of
 * their transcript as they end. So this starts a process that waits for the agent's end, and then
 * settles as the transcript shows; if the agent continues, its next call settles. Returns at once.
 * The caller's kit must be closed. */
void hook_settle_after_end(struct cli *cli, struct hook_call *call, uint32_t owner);

#endif
