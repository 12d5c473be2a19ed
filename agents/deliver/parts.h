/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/parts.h: cuts messages that are larger than what an agent shows its model of one
 * answer. Such a message becomes several numbered messages, which are delivered one by one.
 */
#ifndef AGENTS_DELIVER_PARTS_H
#define AGENTS_DELIVER_PARTS_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Returns how many bytes of any part of the message fit into one answer of this call; 0: no
 * limit. */
size_t hook_parts_room(const struct hook_call *call, struct tidings_span message);
/* Returns how many characters the host's escaping adds to a text in this call's answer. */
size_t hook_parts_beyond(const struct hook_call *call, struct tidings_span text);

/* Cuts an offered message into parts, and offers the first: *ret_reply has this offer, or none if
 * another process has changed the queue meanwhile. If a call runs out of time, the next call
 * continues. Errors: BUSY and those of events. */
int32_t hook_parts_of_offer(struct hostkit *kit, const struct hook_call *call,
                            const struct tidings_action *action, struct tidings_reply **ret_reply,
                            struct tidings_error *error);

/* Call it before a tool's result. Cuts a steered message that is too large for that result. */
int32_t hook_parts_of_steered(struct hostkit *kit, const struct hook_call *call,
                              struct tidings_error *error);

#endif
