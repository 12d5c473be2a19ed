/* SPDX-License-Identifier: MIT
 *
 * agents/turn/ours.h: prompts that no person has typed: the nudge with which tidings wakes an
 * agent, and the reason to continue that some agents report as a prompt. Both end with a marker,
 * because a person may type or paste any other text.
 */
#ifndef AGENTS_TURN_OURS_H
#define AGENTS_TURN_OURS_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Returns the prompt that wakes an agent for the turn of `action` (NULL: for a turn that was
 * offered before). The messages and notifications are added when the prompt arrives, so that a late
 * prompt repeats nothing. `call` names the session. Free it; NULL: out of memory, or the store is
 * busy. */
char *hook_nudge(struct hostkit *kit, const struct hook_call *call,
                 const struct tidings_action *action);

/* Is the prompt a nudge? Errors: those of hook_sign_ready. */
int32_t hook_is_nudge(struct hostkit *kit, const struct hook_call *call, bool *ret_is,
                      struct tidings_error *error);

/* Returns the text inside a nudge's marker, which is the argument of the command that wakes the
 * agent. Free it. */
char *hook_nudge_mark(struct hostkit *kit, const struct hook_call *call);

/* If the call is for a command that tidings has not sent, its moment becomes HOOK_OTHER: nothing is
 * delivered with it, because the prompt's own hook follows. */
int32_t hook_pass_over_command(struct hostkit *kit, struct hook_call *call,
                               struct tidings_error *error);

/* If the prompt is a reason to continue that is still leased, no person has typed it, and the call
 * proves that the agent got it. Then the call's moment becomes HOOK_OTHER, and nothing is delivered
 * with it, unless a person's words follow the reason. */
int32_t hook_pass_over_reason(struct hostkit *kit, struct hook_call *call,
                              struct tidings_error *error);

/* Call it if the store could not be asked: it notes a prompt that may be a reason, and the next
 * call finds out. */
void hook_note_unread_reason(const struct hook_call *call);

#endif
