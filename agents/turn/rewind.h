/* SPDX-License-Identifier: MIT
 *
 * agents/turn/rewind.h: makes notifications pending again that were shown only with prompts and
 * answers that a person has taken back. No hook reports that; the transcript shows it.
 */
#ifndef AGENTS_TURN_REWIND_H
#define AGENTS_TURN_REWIND_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Call it before a call's carrier, after the leases were settled. While a delivery is still leased,
 * it leaves the work to the next call. A failure is logged. */
void hook_rewind_report(struct hostkit *kit, const struct hook_call *call);

#endif
