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
 * `instructions` has for this session, with its nonce and format. The context that held an earlier
 * one may be gone, so it is said each time, but to a session that another process resumes
 * where the agent's transcript has it. To an agent that forgets what is said at the start, it is
 * said with a prompt, before the notifications, unless the transcript has it; to one that does not
 * start its session again after compaction, with the next prompt. */
int32_t hook_start_instruct(struct hostkit *kit, const struct hook_call *call,
                            struct hook_answer *ret_answer, struct tidings_error *error);

/* A session that began before the hooks were set up has reported no start: its host attached by
 * another call, which says in which folder it works. Once that is stored, this changes nothing. */
void hook_start_late(struct hostkit *kit, const struct hook_call *call);

/* At a session's start: the commands that its model runs find this program in $TIDINGS and the
 * session in $TIDINGS_SESSION, where the agent has a file for that. */
void hook_start_environment(const struct cli *cli, const struct hook_call *call);

#endif
