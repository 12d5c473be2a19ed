/* SPDX-License-Identifier: MIT
 *
 * agents/wait/waking.h: the two ways in which a process that waits beside an idle agent starts the
 * turn that it is offered: the agent's command, which takes a nudge, and the inbox of its window,
 * which takes the turn itself.
 */
#ifndef AGENTS_WAIT_WAKING_H
#define AGENTS_WAIT_WAKING_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Runs "PROGRAM queue"; `action` NULL: a turn was offered before. Returns its exit status; -1: it
 * was not run. If it fails, the turn is declined. */
int hook_waking_queue(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                      const struct tidings_action *action, int failed_before);

/* Takes the turn that *offer has and gives it to the inbox; may replace *offer. Returns 0; or -1:
 * the inbox does not take it, and what the turn has waits as before. */
int hook_waking_give(struct hostkit *kit, const struct hook_call *call,
                     struct tidings_reply **offer);

/* The turn that is offered does not start. */
void hook_waking_decline(struct hostkit *kit, const struct hook_call *call);

#endif
