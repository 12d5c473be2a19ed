/* SPDX-License-Identifier: MIT
 *
 * run/watchdog.h: a small process beside a run, which reports that the run was lost track of when
 * it is killed in a way that it cannot see coming (SIGKILL, or when memory runs out).
 */
#ifndef TIDINGS_CLI_RUN_WATCHDOG_H
#define TIDINGS_CLI_RUN_WATCHDOG_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/run/report.h"

struct watchdog {
  pid_t pid; /* 0: there is none */
  int fd;    /* its end tells the process that we have ended */
};

/* Before the command is started; returns when the process has a session of its own, so that nothing
 * that ends the run ends it too. Without it the run goes on all the same. `report` is copied with
 * the process. */
void watchdog_start(const struct report *report, uint64_t begun_ms, struct watchdog *ret_watchdog);
/* After what happened was reported in the usual way, whether that went well or not, or when nothing
 * was started. Waits for its end. */
void watchdog_stop(struct watchdog *watchdog);

#endif
