/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook_report.h: what an agent's hook calls say besides its turns: a subagent has
 * ended, the configuration has changed, how much of the context is used. Each is an event, and the
 * plugin decides whether the model reads it.
 */
#ifndef AGENTS_HOOK_HOOK_REPORT_H
#define AGENTS_HOOK_HOOK_REPORT_H

#include "agents/hook/hook_call.h"
#include "command/kit.h"

/* A subagent has ended: its type and id, and its last words. The agent itself starts a turn for it
 * where it does so; this never does. */
int32_t hook_report_subagent(struct hostkit *kit, const struct hook_call *call,
                             struct tidings_error *error);

/* The agent says that it has read its configuration again. */
int32_t hook_report_configured(struct hostkit *kit, const struct hook_call *call,
                               struct tidings_error *error);

/* For an agent that does not: looks whether a file of its configuration was changed since it took
 * the session up, and reports each change once. A failure is a line in the log. */
void hook_report_files(struct hostkit *kit, const struct hook_call *call);

/* So many tokens of the model's context are used; nothing happens where one is not known (0). A
 * failure is a line in the log. */
void hook_report_usage(struct hostkit *kit, const struct hook_call *call, int64_t used,
                       int64_t limit);
/* The same, as the call says. */
void hook_report_usage_said(struct hostkit *kit, const struct hook_call *call);

#endif
