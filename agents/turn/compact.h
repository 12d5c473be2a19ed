/* SPDX-License-Identifier: MIT
 *
 * agents/turn/compact.h: what the model reads after its conversation was compacted.
 */
#ifndef AGENTS_TURN_COMPACT_H
#define AGENTS_TURN_COMPACT_H

#include "agents/call/call.h"
#include "command/kit.h"

/* For a session's start again after compaction: reports it, and *ret_text says what is pending and
 * queued, as JSON after a sentence, or how much it is where that has more than `room` bytes. NULL:
 * nothing waits. Free it. */
int32_t hook_compacted(struct hostkit *kit, const struct hook_call *call, size_t room,
                       char **ret_text, struct tidings_error *error);

#endif
