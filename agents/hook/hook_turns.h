/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook_turns.h: what a hook call means for the session, and what to answer. Uses
 * hostkit; prints nothing.
 */
#ifndef AGENTS_HOOK_HOOK_TURNS_H
#define AGENTS_HOOK_HOOK_TURNS_H

#include "agents/hook/hook_call.h"
#include "command/kit.h"

/* What goes to the host. */
struct hook_answer {
  json_t *output;    /* one object; NULL: nothing to say */
  uint64_t delivery; /* leased until the next call, rolled back if the output is not written; 0:
                        none */
};

/* `owner`: the agent's process; 0: there is none, and this process is the host while it runs. On
 * failure the answer is empty, and nothing of this call stays leased. */
int32_t hook_answer_call(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                         struct hook_answer *ret_answer, struct tidings_error *error);

/* For hosts that are woken by a prompt of ours: what that says. Only its first words mean
 * something: the messages and the notifications themselves are put in when it arrives, so that one
 * that arrives late repeats nothing. Free it; NULL: out of memory. */
char *hook_nudge(const struct tidings_action *action);

/* An event of the call's session; takes `data` over. */
int32_t hook_send_event(struct hostkit *kit, const struct hook_call *call, const char *type,
                        json_t *data, struct tidings_reply **ret_reply,
                        struct tidings_error *error);

/* -- hook_stop.c: the end of a turn -- */

int32_t hook_turn_ended(struct hostkit *kit, const struct hook_call *call,
                        struct hook_answer *ret_answer, struct tidings_error *error);
int32_t hook_turn_failed(struct hostkit *kit, const struct hook_call *call,
                         struct tidings_error *error);

/* -- hook_deliver.c: carriers -- */

/* The room for notifications beside `content`; 0: no bound. */
uint64_t hook_room(const struct hook_call *call, const char *content);
/* An answer whose text goes to the model with the call's carrier: what `reply` brings, after
 * `content`. Takes the reply over. If there is nothing to deliver, the answer is empty, and a
 * delivery of nothing is settled. */
int32_t hook_context(struct hostkit *kit, const struct hook_call *call, const char *content,
                     struct tidings_reply *reply, struct hook_answer *ret_answer,
                     struct tidings_error *error);
/* An answer that says only this; and what an answer says, "" if nothing. */
json_t *hook_context_output(const struct hook_call *call, const char *text);
const char *hook_context_said(const json_t *output);
/* The same for an answer that makes the agent go on with `content`. */
int32_t hook_continuation(struct hostkit *kit, const struct hook_call *call, const char *content,
                          struct tidings_reply *reply, struct hook_answer *ret_answer,
                          struct tidings_error *error);
/* Asks for the carrier of a chat request: the host's own (action NULL), or one with an offer's
 * messages, whose contents are *ret_content (free it). */
int32_t hook_chat_request(struct hostkit *kit, const struct hook_call *call,
                          const struct tidings_action *action, char **ret_content,
                          struct tidings_reply **ret_reply, struct tidings_error *error);
/* the offer in it; NULL: none */
const struct tidings_action *hook_start_turn(const struct tidings_reply *reply);

#endif
