/* SPDX-License-Identifier: MIT
 *
 * listen/forward.h: a thread that makes sessions collect mailboxes that got something, so that no
 * request waits for that.
 */
#ifndef LISTEN_FORWARD_H
#define LISTEN_FORWARD_H

#include "command/kit.h"

struct forward;

/* The thread first looks at all mailboxes, because a server that was killed may have left something
 * in them. End it with forward_end. Errors: NOMEM, those of queries. */
int32_t forward_begin(const struct cli *cli, struct hostkit *kit, struct forward **ret_forward,
                      struct tidings_error *error);
/* Tells the thread that something was pushed to this mailbox. Any thread may call it. Returns 0, or
 * -1: no memory. */
int forward_to(struct forward *forward, const char *mailbox);
/* Ends the thread after it has looked once more at all mailboxes on its list. NULL is allowed. */
void forward_end(struct forward *forward);

#endif
