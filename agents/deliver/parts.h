/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/parts.h: messages that are larger than what an agent shows its model of one
 * answer. Such a message becomes several, each with a number and a carrier of its own.
 */
#ifndef AGENTS_DELIVER_PARTS_H
#define AGENTS_DELIVER_PARTS_H

#include "agents/call/call.h"
#include "command/kit.h"

/* How many bytes of messages one answer of this call can have; 0: no limit. */
size_t hook_parts_room(const struct hook_call *call);

/* Makes parts of a message that is offered, and offers the first: *ret_reply has it, or no offer
 * where somebody else has changed the queue meanwhile. A call that has no time left changes nothing
 * but the end of the queue, and the next one goes on with it. Errors: BUSY and the events'. */
int32_t hook_parts_of_offer(struct hostkit *kit, const struct hook_call *call,
                            const struct tidings_action *action, struct tidings_reply **ret_reply,
                            struct tidings_error *error);

/* Before a tool's result: the same for a message that is to go with it and is too large. */
int32_t hook_parts_of_steered(struct hostkit *kit, const struct hook_call *call,
                              struct tidings_error *error);

#endif
