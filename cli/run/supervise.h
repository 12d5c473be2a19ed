/* SPDX-License-Identifier: MIT
 *
 * run/supervise.h: supervises a command from start to end: keeps and passes on its output, and
 * reports that it waits or has ended.
 */
#ifndef TIDINGS_CLI_RUN_SUPERVISE_H
#define TIDINGS_CLI_RUN_SUPERVISE_H

#include "cli/excerpt/excerpt.h"
#include "cli/run/child.h"
#include "cli/run/log.h"
#include "cli/run/report.h"
#include "cli/run/tail.h"
#include "cli/run/watchdog.h"
#include "command/cli.h"

struct run {
  const struct cli *cli;
  char **argv;
  const char *name, *session;
  bool detached, quiet, no_tty;
  struct run_log log;
  struct child child;
  struct tail tail;
  struct excerpt excerpt;
  struct report report;
  struct watchdog watchdog;
  uint64_t begun_ms; /* on the monotonic clock */
};

/* Call it when the command and the watchdog run. Returns the command's exit code as a shell
 * would. */
int supervise(struct run *run);

#endif
