/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/usage.h: reports how much of the model's context is used.
 */
#ifndef AGENTS_DELIVER_USAGE_H
#define AGENTS_DELIVER_USAGE_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Reports that `used` of `limit` tokens are used; it does nothing if one of them is not known (0).
 * A failure is a line in the log. */
void hook_report_usage(struct hostkit *kit, const struct hook_call *call, int64_t used,
                       int64_t limit);
/* Does the same with the numbers that the call has. */
void hook_report_usage_said(struct hostkit *kit, const struct hook_call *call);

#endif
