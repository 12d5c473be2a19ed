/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/usage.h: reports how much of the model's context is used.
 */
#ifndef AGENTS_DELIVER_USAGE_H
#define AGENTS_DELIVER_USAGE_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Reports that so many tokens of the model's context are used; it does nothing if a number is not
 * known (0). A failure is a line in the log. */
void hook_report_usage(struct hostkit *kit, const struct hook_call *call, int64_t used,
                       int64_t limit);
/* Does the same with the numbers in the call. */
void hook_report_usage_said(struct hostkit *kit, const struct hook_call *call);

#endif
