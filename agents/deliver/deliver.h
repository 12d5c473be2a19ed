/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/deliver.h: makes the answers to hook calls. An answer is what carries
 * notifications to the model of an agent with hooks. It prints nothing.
 */
#ifndef AGENTS_DELIVER_DELIVER_H
#define AGENTS_DELIVER_DELIVER_H

#include "agents/call/call.h"
#include "command/kit.h"

/* The answer that goes to the host. */
struct hook_answer {
  json_t *output;    /* an object; NULL: there is nothing to say */
  uint64_t delivery; /* stays leased until the next call; is rolled back if the output is not
                        written; 0: none */
};

/* Returns the room for notifications beside `content`; 0: no bound. */
uint64_t hook_room(const struct hook_call *call, const char *content);
/* Makes an answer whose text goes to the model: `content`, and then the texts of `reply`, which is
 * taken over. If there is no text, the answer is empty, and the reply's delivery is settled. */
int32_t hook_context(struct hostkit *kit, const struct hook_call *call, const char *content,
                     struct tidings_reply *reply, struct hook_answer *ret_answer,
                     struct tidings_error *error);
/* The first makes an answer that has only this text; the second returns the text of an answer, ""
 * if it has none. */
json_t *hook_context_output(const struct hook_call *call, const char *text);
const char *hook_context_said(const struct hook_call *call, const json_t *output);
/* Does the same as hook_context for an answer that makes the agent go on with `content`. */
int32_t hook_continuation(struct hostkit *kit, const struct hook_call *call, const char *content,
                          struct tidings_reply *reply, struct hook_answer *ret_answer,
                          struct tidings_error *error);
/* If an offered message is larger than what the agent shows its model, cuts it into parts. *offer,
 * which is taken over, then becomes the reply that offers the first part, or one without an
 * offer. */
int32_t hook_fit_offer(struct hostkit *kit, const struct hook_call *call,
                       struct tidings_reply **offer, struct tidings_error *error);
/* Asks the plugin what to deliver with a chat request: with the host's own (`action` NULL), or with
 * one that starts an offered turn. *ret_content has the contents of the offered messages; free
 * it. */
int32_t hook_chat_request(struct hostkit *kit, const struct hook_call *call,
                          const struct tidings_action *action, char **ret_content,
                          struct tidings_reply **ret_reply, struct tidings_error *error);
/* Returns the offer in a reply; NULL: there is none. */
const struct tidings_action *hook_start_turn(const struct tidings_reply *reply);

#endif
