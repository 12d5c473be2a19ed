/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook_rewind.h: what was shown only on prompts and answers that a person has taken
 * back is pending again. No hook says that a person did; the transcript does.
 */
#ifndef AGENTS_HOOK_HOOK_REWIND_H
#define AGENTS_HOOK_HOOK_REWIND_H

#include "agents/hook/hook_call.h"
#include "command/kit.h"

/* Before a call's carrier, after the leases were settled. While one is still leased nothing
 * happens: the next call does it. What fails is logged. */
void hook_rewind_report(struct hostkit *kit, const struct hook_call *call);

#endif
