/* SPDX-License-Identifier: MIT
 *
 * command/patience.h: a long-running program repeats what has failed, such as a query while the
 * server of a database restarts, after growing pauses.
 */
#ifndef COMMAND_PATIENCE_H
#define COMMAND_PATIENCE_H

#include "command/cli.h"

/* Zero it: no try has failed. */
struct patience {
  unsigned pause_ms; /* the pause before the next try; 0: the last try has not failed */
  int64_t due_ms;    /* the time of the next try, by the monotonic clock */
};

/* To be called after a try has failed: doubles the pause. */
void patience_later(struct patience *patience, unsigned longest_ms);

/* For a program that only watches a store, or waits for it; to be called with the result of each
 * call. While a store in a database is lost, or a store is busy, it plans the next try, and says so
 * on stderr, once for a row of failures. Returns 0; or the exit code, after saying on stderr what
 * is wrong. */
int patience_store(const struct cli *cli, struct patience *patience, int32_t code,
                   const struct tidings_error *error);

/* May the store take the same call later? */
bool patience_may_return(const struct cli *cli, int32_t code);

#endif
