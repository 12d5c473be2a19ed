/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/leases.h: settles the deliveries of earlier hook calls. A hook cannot settle its
 * own delivery, because the agent writes its transcript after the hook has ended. So the next call
 * does.
 */
#ifndef AGENTS_DELIVER_LEASES_H
#define AGENTS_DELIVER_LEASES_H

#include "agents/call/call.h"
#include "command/kit.h"

/* Before anything else is done for a call. Settles what this owner's transcript decides. If the
 * session's owner was another process, or there is none, nothing is settled: *ret_named has the ids
 * of the leased deliveries that the transcript holds, for session.resumed (an array; release it).
 * Not written: nothing is leased, or nothing is known. */
int32_t hook_leases_settle(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                           json_t **ret_named, struct tidings_error *error);

#endif
