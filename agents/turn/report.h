/* SPDX-License-Identifier: MIT
 *
 * agents/turn/report.h: what an agent's hook calls say besides its turns: a subagent has
 * ended, the configuration has changed. Each is an event, and the plugin decides whether the model
 * reads it.
 */
#ifndef AGENTS_TURN_REPORT_H
#define AGENTS_TURN_REPORT_H

#include "agents/call/call.h"
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

#endif
