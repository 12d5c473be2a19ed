/* SPDX-License-Identifier: MIT
 *
 * run/leftover.h: the processes that a command leaves running may still print: without a reader,
 * their next write would kill them.
 */
#ifndef TIDINGS_CLI_RUN_LEFTOVER_H
#define TIDINGS_CLI_RUN_LEFTOVER_H

#include "cli/run/log.h"

/* Starts a process that reads these descriptors into the log until nobody holds their other ends;
 * -1: there is none. It keeps nothing else of ours open, and does not hold the lock of the log. */
void leftover_read(const struct run_log *log, int out, int err);

#endif
