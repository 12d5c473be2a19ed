/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/say.h: a line that shows the person what an answer delivers to the model.
 */
#ifndef AGENTS_DELIVER_SAY_H
#define AGENTS_DELIVER_SAY_H

#include <jansson.h>
#include <tidings/hostkit.h>

#include "agents/call/call.h"

/* Adds the line to the answer, if the agent has a place for it and the configuration does not turn
 * it off. A failure leaves the line out, because the answer is more important. `content`: the
 * message that becomes the next turn, "" if there is none. */
void hook_say(struct hostkit *kit, const struct hook_call *call, const char *content,
              const struct tidings_reply *reply, json_t *output);

/* Drops the line that was kept for a turn's end. Call it if that turn was stopped or has failed. */
void hook_say_forget(const struct hook_call *call);

/* Call it at a turn's end: adds the line that was kept when the turn began, if there is one.
 * *output NULL: there is no other answer. */
void hook_say_late(const struct hook_call *call, json_t **output);

#endif
