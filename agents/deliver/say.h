/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/say.h: the line for the person that says what an answer hands to the model.
 */
#ifndef AGENTS_DELIVER_SAY_H
#define AGENTS_DELIVER_SAY_H

#include <jansson.h>
#include <tidings/hostkit.h>

#include "agents/call/call.h"

/* Adds the line to the answer, if the agent has a place for it and the configuration does not turn
 * it off. If it cannot be made, it is left out, because the answer is more important. `content`:
 * the message that becomes the next turn, "" if there is none. */
void hook_say(struct hostkit *kit, const struct hook_call *call, const char *content,
              const struct tidings_reply *reply, json_t *output);

/* The turn whose line was kept for its end was stopped, or has failed: the line is of no use. */
void hook_say_forget(const struct hook_call *call);

/* At a turn's end: adds the line of what the turn began with, if the agent has not shown it yet.
 * *output NULL: there is no answer but this. */
void hook_say_late(const struct hook_call *call, json_t **output);

#endif
