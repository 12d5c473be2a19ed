/* SPDX-License-Identifier: MIT
 *
 * agents/turn/report.h: reports that are not about turns: a subagent has ended, the configuration
 * has changed. Each becomes an event, and the plugin decides whether the model reads it.
 */
#ifndef AGENTS_TURN_REPORT_H
#define AGENTS_TURN_REPORT_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Reports that a subagent has ended, with its type, id and last words. This never starts a turn;
 * some agents start one themselves. */
int32_t hook_report_subagent(struct hostkit *kit, const struct hook_call *call,
                             struct tidings_error *error);

/* Reports that the agent has read its configuration again. */
int32_t hook_report_configured(struct hostkit *kit, const struct hook_call *call,
                               struct tidings_error *error);

/* For agents that do not report it: finds files of the configuration that have changed since the
 * agent began or resumed the session, and reports each change once. A failure is a line in the
 * log. */
void hook_report_files(struct hostkit *kit, const struct hook_call *call);

#endif
