/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/status.h: the status of a hook call's session. It is queried once, and again only
 * after the call has changed something.
 */
#ifndef AGENTS_DELIVER_STATUS_H
#define AGENTS_DELIVER_STATUS_H

#include "agents/call/call.h"
#include "command/kit.h"

/* The status as one call has seen it. */
struct hook_seen {
  json_t *status;      /* NULL: not queried since the last change */
  bool knows_the_host; /* the session's owner has reported its folder or its kind */
};
void hook_seen_finish(struct hook_seen *seen);

/* Returns the answer to the query `status`; release it. A call without `seen` queries each time.
 * Errors: those of queries. */
int32_t hook_status(struct hostkit *kit, const struct hook_call *call, json_t **ret_status,
                    struct tidings_error *error);
/* Is a turn offered that no carrier has taken? */
int32_t hook_status_is_offered(struct hostkit *kit, const struct hook_call *call, bool *ret_is,
                               struct tidings_error *error);
/* Is a delivery not settled yet? Also true if the query fails. */
bool hook_status_has_leases(struct hostkit *kit, const struct hook_call *call);
/* Notes that the call has changed something, or tried to. */
void hook_status_changed(const struct hook_call *call);

/* Sends an event to the call's session; takes `data` over. */
int32_t hook_send_event(struct hostkit *kit, const struct hook_call *call, const char *type,
                        json_t *data, struct tidings_reply **ret_reply,
                        struct tidings_error *error);
/* Does the same for an event that is sent once per call. The event has an id, so if the call is
 * handled again (wait/again.h) an event that was stored after all is not stored twice. */
int32_t hook_send_event_once(struct hostkit *kit, const struct hook_call *call, const char *type,
                             json_t *data, struct tidings_error *error);

#endif
