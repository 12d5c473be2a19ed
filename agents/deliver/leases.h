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

/* Call it before anything else in a call. It settles the deliveries about which this owner's
 * transcript decides. If the session's owner was another process, or there is none, it settles
 * nothing: *ret_named is an array of the ids of the leased deliveries in the transcript, for
 * session.resumed (release it). *ret_named is not written if nothing is leased, or if the
 * transcript cannot tell. */
int32_t hook_leases_settle(struct hostkit *kit, const struct hook_call *call, uint32_t owner,
                           json_t **ret_named, struct tidings_error *error);

#endif
