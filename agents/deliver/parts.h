/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/parts.h: messages that are larger than the part of an answer that an agent shows
 * its model. Such a message becomes several messages, each with a number and a carrier of its own.
 */
#ifndef AGENTS_DELIVER_PARTS_H
#define AGENTS_DELIVER_PARTS_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Returns how many bytes of a message fit into one answer of this call, whichever part of it they
 * are; 0: no limit. */
size_t hook_parts_room(const struct hook_call *call, struct tidings_span message);
/* Returns by how many characters the host's escaping lengthens a text of this call's answer. */
size_t hook_parts_beyond(const struct hook_call *call, struct tidings_span text);

/* Makes parts of an offered message, and offers the first: *ret_reply has it, or no offer if
 * another process has changed the queue meanwhile. A call that runs out of time has changed only
 * the end of the queue, and the next call continues. Errors: BUSY and those of events. */
int32_t hook_parts_of_offer(struct hostkit *kit, const struct hook_call *call,
                            const struct tidings_action *action, struct tidings_reply **ret_reply,
                            struct tidings_error *error);

/* Does the same, before a tool's result, for a steered message that is too large for it. */
int32_t hook_parts_of_steered(struct hostkit *kit, const struct hook_call *call,
                              struct tidings_error *error);

#endif
