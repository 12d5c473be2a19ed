/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/reason.h: which delivery was a reason to continue, for an agent whose transcript
 * lacks those: nothing else is settled without a proof.
 */
#ifndef AGENTS_DELIVER_REASON_H
#define AGENTS_DELIVER_REASON_H

#include "agents/call/call.h"

void hook_reason_note(const struct hook_call *call, uint64_t delivery);
/* 0: none is known. */
uint64_t hook_reason_noted(const struct hook_call *call);

#endif
