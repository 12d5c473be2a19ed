/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/leases.h: settles the deliveries of earlier hook calls. A hook cannot settle its
 * own delivery, because the agent writes its transcript after the hook has ended. So the next call
 * settles it.
 */
#ifndef AGENTS_DELIVER_LEASES_H
#define AGENTS_DELIVER_LEASES_H

#include "agents/call/call.h"
#include "command/kit.h"

/* A hook calls it before anything else. If `owner` owns the session, it settles the deliveries
 * whose outcome is known by now. Otherwise it settles nothing: *ret_named, for session.resumed, is
 * an array of the ids of the leased deliveries that were read; release it. The array may be empty;
 * it is not written if the transcript cannot be read. */
int32_t hook_leases_settle(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                           json_t **ret_named, struct tidings_error *error);

#endif
