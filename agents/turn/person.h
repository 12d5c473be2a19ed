/* SPDX-License-Identifier: MIT
 *
 * agents/turn/person.h: actions of a person during a turn: answers a question, stops the turn, ends
 * the session. Each changes the state of the run, and none is a carrier.
 */
#ifndef AGENTS_TURN_PERSON_H
#define AGENTS_TURN_PERSON_H

#include "agents/call/call.h"
#include "command/kit.h"

/* The turn waits for a person's leave, until its next tool result or its end. It does nothing if no
 * turn runs, or if the turn waits already. */
int32_t hook_person_asked(struct hostkit *kit, const struct hook_call *call,
                          struct tidings_error *error);

/* The agent notifies a person that it asks, or that it idles. If it idles while a turn runs here, a
 * person has stopped it. */
int32_t hook_person_noticed(struct hostkit *kit, const struct hook_call *call,
                            struct tidings_error *error);

/* A person has stopped the turn that runs, at `when_ms` (0: now): it is over, and *ret_reply may
 * offer the next one. If no turn runs, or it began later, nothing happens and *ret_reply is not
 * written. */
int32_t hook_person_interrupted(struct hostkit *kit, const struct hook_call *call, int64_t when_ms,
                                struct tidings_reply **ret_reply, struct tidings_error *error);

/* The same at the time of the call, for a hook, which starts no turn: queued messages stay queued,
 * and the process that waits beside the agent starts them. */
int32_t hook_person_stopped(struct hostkit *kit, const struct hook_call *call,
                            struct tidings_error *error);
/* The same for a requested end of the running turn (`tidings stop`). */
int32_t hook_person_requested(struct hostkit *kit, const struct hook_call *call,
                              struct tidings_error *error);

#endif
