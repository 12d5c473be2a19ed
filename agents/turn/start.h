/* SPDX-License-Identifier: MIT
 *
 * agents/turn/start.h: the beginning of a session: the model gets the paragraph about
 * notifications, and the store learns in which folder the session works.
 */
#ifndef AGENTS_TURN_START_H
#define AGENTS_TURN_START_H

#include "agents/call/call.h"
#include "agents/deliver/deliver.h"

/* Adds the paragraph of the query `instructions` to the answer. Each start of a session gets it,
 * also after a compaction, because the model may have lost an earlier one; but not if another
 * process resumes a session whose transcript keeps it. A prompt gets it, before the notifications,
 * if the transcript lacks it and the agent drops the answer of a start, or calls no start after a
 * compaction. */
int32_t hook_start_instruct(struct hostkit *kit, const struct hook_call *call,
                            struct hook_answer *ret_answer, struct tidings_error *error);

/* Call it if the store could not be opened at a session's start: the next prompt then gets the
 * paragraph. */
void hook_start_missed(const struct hook_call *call);

/* Stores the session's host and folder if they are not stored yet, because the session began before
 * the hooks were set up. */
void hook_start_late(struct hostkit *kit, const struct hook_call *call);

/* Call it at a session's start: if the agent has a file for that, the commands that its model runs
 * get this program in $TIDINGS and the session in $TIDINGS_SESSION. */
void hook_start_environment(const struct cli *cli, const struct hook_call *call);

#endif
