/* SPDX-License-Identifier: MIT
 *
 * agents/wait/after_end.h: what is still leased when an agent ends.
 */
#ifndef AGENTS_WAIT_AFTER_END_H
#define AGENTS_WAIT_AFTER_END_H

#include "agents/call/call.h"
#include "command/cli.h"

/* At a session's end, with leases left: some agents write the last part of their transcript as they
 * end. Starts a process that waits for that and settles what the transcript then decides; an agent
 * that goes on settles it by itself. Returns at once. The caller's kit must be closed. */
void hook_settle_after_end(struct cli *cli, struct hook_call *call, uint32_t owner);

#endif
