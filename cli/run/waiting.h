/* SPDX-License-Identifier: MIT
 *
 * run/waiting.h: does a command wait for input from its terminal? /proc says it, so the command
 * notices nothing.
 */
#ifndef TIDINGS_CLI_RUN_WAITING_H
#define TIDINGS_CLI_RUN_WAITING_H

#include <stdbool.h>
#include <sys/types.h>

/* True if `pid` or a process below it is in the foreground of its terminal and blocked until
 * something is typed: in a read of the terminal, or in a select or poll of it alone without a time
 * limit. */
bool waiting_for_input(pid_t pid);

#endif
