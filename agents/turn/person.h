/* SPDX-License-Identifier: MIT
 *
 * agents/turn/person.h: actions of a person during a turn: answers a question, stops the turn, ends
 * the session. Each changes the state of the run, and none is a carrier.
 */
#ifndef AGENTS_TURN_PERSON_H
#define AGENTS_TURN_PERSON_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Reports that the turn waits for a person's permission; it waits until its next tool result or its
 * end. Does nothing if no turn runs, or if the turn waits already. */
int32_t hook_person_asked(struct hostkit *kit, const struct hook_call *call,
                          struct tidings_error *error);

/* Is this a tool's result, and has a person stopped the tool? Some agents call the hook even then,
 * but the model never reads the answer. */
bool hook_person_stopped_tool(const struct hook_call *call);

/* Does the agent notify a person that it idles? */
bool hook_person_awaited(const struct hook_call *call);

/* Call it when the agent notifies a person that it asks something, or that it idles. If it idles
 * while the store has a running turn, a person has stopped that turn. */
int32_t hook_person_noticed(struct hostkit *kit, const struct hook_call *call,
                            struct tidings_error *error);

/* Reports that a person stopped the running turn at `when_ms` (0: now). *ret_reply may offer the
 * next turn. If no turn runs, or the turn began later, nothing happens and *ret_reply is not
 * written. */
int32_t hook_person_interrupted(struct hostkit *kit, const struct hook_call *call, int64_t when_ms,
                                struct tidings_reply **ret_reply, struct tidings_error *error);

/* Reports the same, at the time of the call, and declines the next turn: queued messages stay
 * queued, and the process that waits beside the agent starts them. */
int32_t hook_person_stopped(struct hostkit *kit, const struct hook_call *call,
                            struct tidings_error *error);
/* The same for an end that `tidings stop` requested, at the time of the report. */
int32_t hook_person_requested(struct hostkit *kit, const struct hook_call *call,
                              struct tidings_error *error);

#endif
