/* SPDX-License-Identifier: MIT
 *
 * agents/turn/rewind.h: if a person has taken back all prompts and answers with which a
 * notification was shown, makes it pending again. No hook reports that; the transcript shows it.
 */
#ifndef AGENTS_TURN_REWIND_H
#define AGENTS_TURN_REWIND_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Call it before a call's carrier, after the leases were settled. While a delivery is still leased,
 * it does nothing, and the next call does the work. A failure is logged. */
void hook_rewind_report(struct hostkit *kit, const struct hook_call *call);

#endif
