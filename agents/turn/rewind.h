/* SPDX-License-Identifier: MIT
 *
 * agents/turn/rewind.h: notifications that were shown only with prompts and answers that a
 * person has taken back are pending again. No hook reports that; the transcript shows it.
 */
#ifndef AGENTS_TURN_REWIND_H
#define AGENTS_TURN_REWIND_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Before a call's carrier, after the leases were settled. While one is still leased nothing
 * happens: the next call does it. A failure is logged. */
void hook_rewind_report(struct hostkit *kit, const struct hook_call *call);

#endif
