/* SPDX-License-Identifier: MIT
 *
 * agents/turn/start.h: the beginning of a session: the model gets the paragraph about
 * notifications, and the store learns in which folder the session works.
 */
#ifndef AGENTS_TURN_START_H
#define AGENTS_TURN_START_H

#include "agents/call/call.h"
#include "agents/deliver/deliver.h"

/* For a session's start, and its start again after compaction: the paragraph that the query
 * `instructions` has for this session, with its nonce and format. The context with an earlier one
 * may be gone, so it is said each time, except if another process resumes the session and the
 * agent's transcript has it. If an agent forgets the text of the start, a prompt says it, before
 * the notifications, unless the transcript has it. If an agent does not start its session again
 * after a compaction, the next prompt says it. */
int32_t hook_start_instruct(struct hostkit *kit, const struct hook_call *call,
                            struct hook_answer *ret_answer, struct tidings_error *error);

/* The store could not be opened at a session's start: the next prompt says the paragraph. */
void hook_start_missed(const struct hook_call *call);

/* A session that began before the hooks were set up has reported no start: another call has
 * attached its host, and names its folder. If the folder is stored already, this does nothing. */
void hook_start_late(struct hostkit *kit, const struct hook_call *call);

/* At a session's start: the commands that its model runs find this program in $TIDINGS and the
 * session in $TIDINGS_SESSION, if the agent has a file for that. */
void hook_start_environment(const struct cli *cli, const struct hook_call *call);

#endif
