/* SPDX-License-Identifier: MIT
 *
 * command/mailbox_retry.h: makes the session of an address collect what a long-running program has
 * put into its mailbox (mailbox.h), and tries again after growing pauses if that fails.
 */
#ifndef COMMAND_MAILBOX_RETRY_H
#define COMMAND_MAILBOX_RETRY_H

#include "command/destination.h"

struct mailbox_retry {
  bool wanted;
  unsigned pause_ms; /* before the next try; 0: none has failed */
  int64_t due_ms;    /* of that try, on the monotonic clock */
};

/* Something is in the mailbox: the next mailbox_retry_try does not wait for its pause. */
void mailbox_retry_want(struct mailbox_retry *retry);

/* Tries it if it is wanted and its time has come, or at the `last` moment. Says on stderr that it
 * failed, once in a row. Does nothing for a destination that is a session. */
void mailbox_retry_try(const struct cli *cli, const struct destination *destination,
                       struct mailbox_retry *retry, bool last);

/* Returns the timeout for poll: until the next try, or `other_ms` if that is shorter. */
int mailbox_retry_wait_ms(const struct mailbox_retry *retry, int other_ms);

#endif
