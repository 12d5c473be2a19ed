/* SPDX-License-Identifier: MIT
 *
 * agents/turn/ours.h: prompts that no person has typed: the nudge with which tidings wakes an
 * agent, and the reason to continue that some agents report as a prompt. Both end with a marker,
 * because a person may type or paste everything else.
 */
#ifndef AGENTS_TURN_OURS_H
#define AGENTS_TURN_OURS_H

#include "agents/call/call.h"
#include "command/kit.h"

/* The prompt of an agent that is woken; `action` NULL: for a turn that was offered before. The
 * messages and the notifications themselves are put in when it arrives, so that one that arrives
 * late repeats nothing. `call`: of the session that it is for. Free it; NULL: out of memory, or the
 * store is busy. */
char *hook_nudge(struct hostkit *kit, const struct hook_call *call,
                 const struct tidings_action *action);

/* Errors: the query `marker`'s. */
int32_t hook_is_nudge(struct hostkit *kit, const struct hook_call *call, bool *ret_is,
                      struct tidings_error *error);

/* Is the prompt the reason to continue that is still leased? Then no person has typed it, nothing
 * goes with it, and the call's moment becomes HOOK_OTHER. */
int32_t hook_pass_over_reason(struct hostkit *kit, struct hook_call *call,
                              struct tidings_error *error);

#endif
