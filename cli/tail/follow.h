/* SPDX-License-Identifier: MIT
 *
 * tail/follow.h: sleeping until a store has changed. For those who look on: the wake descriptor is
 * for owners, and rings only when they must act.
 */
#ifndef TIDINGS_CLI_TAIL_FOLLOW_H
#define TIDINGS_CLI_TAIL_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "command/cli.h"

/* inotify reports a write to the store's file a moment before the commit can be seen. So after the
 * last write that it has reported there are a few more looks, at growing distances, and then none
 * until the next write. A database reports nothing: it is looked at once a second. */
struct follow {
  int fd;         /* of inotify; -1: there is nothing to watch */
  unsigned looks; /* since the last write */
};

/* Begins to watch the store that `cli` means. From here on signals that end the program are noted
 * at follow_sleep only (interrupt.h). Returns 0 or the exit code. */
int follow_begin(const struct cli *cli, struct follow *ret_follow);
/* Sleeps until it is worth looking again. *ret_over: a signal came, and the exit code is that of
 * interrupt_exit_code. `input` is another descriptor to wake for, `most_ms` how long to sleep at
 * most; -1: none. */
int follow_sleep(const struct cli *cli, struct follow *follow, int input, int most_ms,
                 bool *ret_over);
void follow_end(struct follow *follow);

#endif
