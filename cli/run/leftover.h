/* SPDX-License-Identifier: MIT
 *
 * run/leftover.h: reads what processes print that a command has left running: without a reader,
 * their next write would kill them.
 */
#ifndef TIDINGS_CLI_RUN_LEFTOVER_H
#define TIDINGS_CLI_RUN_LEFTOVER_H

#include "cli/run/log.h"

/* Starts a process that writes to the log what comes from these descriptors (-1: none) until nobody
 * holds their other ends. It keeps no other descriptor open, and does not lock the log. */
void leftover_read(const struct run_log *log, int out, int err);

#endif
