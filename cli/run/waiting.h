/* SPDX-License-Identifier: MIT
 *
 * run/waiting.h: does a command wait in a read of its terminal? Found out through /proc: no
 * tracing, nothing that the command could notice.
 */
#ifndef TIDINGS_CLI_RUN_WAITING_H
#define TIDINGS_CLI_RUN_WAITING_H

#include <stdbool.h>
#include <sys/types.h>

/* True if `pid` or a process below it is in the foreground of its terminal and blocked until
 * something is typed: in a read of it, or in a select or poll of nothing else without a time
 * limit. */
bool waiting_for_input(pid_t pid);

#endif
