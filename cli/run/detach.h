/* SPDX-License-Identifier: MIT
 *
 * run/detach.h: continues in the background: the caller learns whether the command could be
 * started, and returns.
 */
#ifndef TIDINGS_CLI_RUN_DETACH_H
#define TIDINGS_CLI_RUN_DETACH_H

#include "command/cli.h"

struct detached {
  int start_report; /* where the process that goes on reports whether the start worked */
};

/* Forks twice. In the process that goes on (no terminal, its stderr is `log`): returns 0, to call
 * detach_started once. In the caller: waits for that, returns 1 with *ret_reason 0 or the errno of
 * the start, and the process that goes on in *ret_pid. -1: it failed, with errno set. */
int detach(int log, struct detached *ret_detached, int *ret_reason, int *ret_pid);
void detach_started(struct detached *detached, int reason);

#endif
