/* SPDX-License-Identifier: MIT
 *
 * run/watchdog.h: a small process beside a run. If the run is killed without a chance to report its
 * end (SIGKILL, or no memory is left), this process reports that the run was lost track of.
 */
#ifndef TIDINGS_CLI_RUN_WATCHDOG_H
#define TIDINGS_CLI_RUN_WATCHDOG_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/run/report.h"

struct watchdog {
  pid_t pid; /* 0: there is none */
  int fd;    /* a pipe, which is closed when we end */
};

/* Call it before the command is started. It returns when the process has its own session, so that a
 * signal that ends the run does not end the process. If it cannot be started, the run continues
 * without it. `report` is copied with the process. */
void watchdog_start(const struct report *report, uint64_t begun_ms, struct watchdog *ret_watchdog);
/* Call it after the run has reported its end, successfully or not, or when nothing was started. It
 * waits until the process has ended. */
void watchdog_stop(struct watchdog *watchdog);

#endif
