/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/say.h: one line for the person: what is handed to the model with an answer.
 */
#ifndef AGENTS_DELIVER_SAY_H
#define AGENTS_DELIVER_SAY_H

#include <jansson.h>
#include <tidings/hostkit.h>

#include "agents/call/call.h"

/* Adds it to the answer, where the agent has a place for it and the configuration does not turn it
 * off. It is left out if it cannot be made: the answer is worth more. `content`: the message that
 * becomes the next turn, "" if there is none. */
void hook_say(struct hostkit *kit, const struct hook_call *call, const char *content,
              const struct tidings_reply *reply, json_t *output);

#endif
