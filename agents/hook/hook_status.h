/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook_status.h: the status of the session of a hook call: queried once, and again only
 * after the call has changed something.
 */
#ifndef AGENTS_HOOK_HOOK_STATUS_H
#define AGENTS_HOOK_HOOK_STATUS_H

#include "agents/hook/hook_call.h"
#include "command/kit.h"

/* Of one call. */
struct hook_seen {
  json_t *status;      /* NULL: not asked since the last change */
  bool knows_the_host; /* who owns the session has said where it works, or what it is */
};
void hook_seen_finish(struct hook_seen *seen);

/* The answer to the query `status`; release it. A call without `seen` asks each time. Errors: the
 * query's. */
int32_t hook_status(struct hostkit *kit, const struct hook_call *call, json_t **ret_status,
                    struct tidings_error *error);
/* The call has changed something, or tried to. */
void hook_status_changed(const struct hook_call *call);

#endif
