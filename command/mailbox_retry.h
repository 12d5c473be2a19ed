/* SPDX-License-Identifier: MIT
 *
 * command/mailbox_retry.h: a long-running program puts things into the mailbox of an address, and
 * makes the session of that address collect them (mailbox.h). If that fails, this tries again after
 * growing pauses.
 */
#ifndef COMMAND_MAILBOX_RETRY_H
#define COMMAND_MAILBOX_RETRY_H

#include "command/destination.h"
#include "command/patience.h"

struct mailbox_retry {
  bool wanted;
  struct patience patience;
};

/* To be called when something was put into the mailbox: the next mailbox_retry_try does not wait
 * for its pause. */
void mailbox_retry_want(struct mailbox_retry *retry);

/* Makes the session collect, if that is wanted and the pause is over, or if this is the `last` try.
 * If it fails, says so on stderr, once for a row of failures. Does nothing for a destination that
 * is a session. */
void mailbox_retry_try(const struct cli *cli, const struct destination *destination,
                       struct mailbox_retry *retry, bool last);

/* Returns the timeout for poll: until the next try, or `other_ms` if that is shorter. */
int mailbox_retry_wait_ms(const struct mailbox_retry *retry, int other_ms);

#endif
