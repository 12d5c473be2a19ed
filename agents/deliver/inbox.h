/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/inbox.h: gives a text to the inbox of the agent's window (struct host_inbox). The
 * agent may drop it without a word, and takes a text of one id only once. So what was given stays
 * in a file until the transcript has it, and can be given again.
 */
#ifndef AGENTS_DELIVER_INBOX_H
#define AGENTS_DELIVER_INBOX_H

#include "agents/call/call.h"
#include "agents/deliver/deliver.h"

/* Does the window that has made this call take texts now, and is nothing on its way there?
 * `of_person`: as the person's words. */
bool hook_inbox_takes(const struct hook_call *call, bool of_person);

/* Gives it the answer's reason to go on. Then the answer has none any more, and its delivery is
 * settled by the transcript only. If that cannot be done, the answer stays as it is. */
void hook_inbox_give(const struct hook_call *call, bool of_person, struct hook_answer *answer);

/* The delivery that is on its way; 0: there is none. */
uint64_t hook_inbox_given(const struct hook_call *call);
void hook_inbox_give_again(const struct hook_call *call);
/* It is settled. */
void hook_inbox_forget(const struct hook_call *call);

#endif
