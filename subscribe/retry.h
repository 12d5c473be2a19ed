/* SPDX-License-Identifier: MIT
 *
 * subscribe/retry.h: computes how long to wait after a failure. Each further failure doubles the
 * time, up to five minutes. The wait is random, between half of that time and all of it, so that
 * the clients of a server that comes back do not come all at once. A longer wait that the server
 * asks for (Retry-After) replaces it in events_fail and plain_failed. Pure.
 */
#ifndef SUBSCRIBE_RETRY_H
#define SUBSCRIBE_RETRY_H

#include <stdint.h>

enum { RETRY_FIRST_MS = 1000, RETRY_LONGEST_MS = 300000 };
/* The longest wait that a server can ask for. */
enum { RETRY_MOST_ASKED_MS = 86400000 };

struct retry {
  uint64_t random; /* the state of a generator; any value */
  unsigned failures;
};

/* Returns the wait after a further failure. */
int64_t retry_wait_ms(struct retry *retry);

#endif
