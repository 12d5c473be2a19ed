/* SPDX-License-Identifier: MIT
 *
 * listen/forward.h: a thread that has the sessions which work there now collect the mailboxes that
 * got something, so that no request waits for that.
 */
#ifndef LISTEN_FORWARD_H
#define LISTEN_FORWARD_H

#include "command/kit.h"

struct forward;

/* Begins with everything that waits: a server that was killed may have left it. *ret_forward:
 * forward_end. Errors: NOMEM, those of queries. */
int32_t forward_begin(const struct cli *cli, struct hostkit *kit, struct forward **ret_forward,
                      struct tidings_error *error);
/* Something is in the mailbox of this name. Any thread. Returns 0, or -1: no memory. */
int forward_to(struct forward *forward, const char *mailbox);
/* Ends after what is asked for is done. NULL is allowed. */
void forward_end(struct forward *forward);

#endif
