/* SPDX-License-Identifier: MIT
 *
 * agents/turn/start.h: the beginning of a session: the model gets the paragraph about
 * notifications, and the store learns in which folder the session works.
 */
#ifndef AGENTS_TURN_START_H
#define AGENTS_TURN_START_H

#include "agents/call/call.h"
#include "agents/deliver/deliver.h"

/* Adds to the answer the paragraph that the query `instructions` has for this session, with its
 * nonce and format. A session's start gets it each time, also after a compaction, because the model
 * may have lost an earlier one; but not if another process resumes the session and the transcript
 * has it. If the agent drops what a start says, a prompt gets it before the notifications, unless
 * the transcript has it. If the agent does not start its session again after a compaction, the next
 * prompt gets it. */
int32_t hook_start_instruct(struct hostkit *kit, const struct hook_call *call,
                            struct hook_answer *ret_answer, struct tidings_error *error);

/* Call it if the store could not be opened at a session's start: the next prompt then gets the
 * paragraph. */
void hook_start_missed(const struct hook_call *call);

/* For a session that began before the hooks were set up, so that it has reported no start: stores
 * its host and folder, as a later call names them. If they are stored already, this does
 * nothing. */
void hook_start_late(struct hostkit *kit, const struct hook_call *call);

/* Call it at a session's start: if the agent has a file for that, the commands that its model runs
 * get this program in $TIDINGS and the session in $TIDINGS_SESSION. */
void hook_start_environment(const struct cli *cli, const struct hook_call *call);

#endif
