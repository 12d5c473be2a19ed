/* SPDX-License-Identifier: MIT
 *
 * stops/tracee.h: stops a child at a chosen moment: after a number of entries and exits of system
 * calls, and then of instructions.
 */
#ifndef STOPS_TRACEE_H
#define STOPS_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts a child that waits before it runs `body`. -1: children cannot be traced here. */
pid_t tracee_start(void (*body)(void *context), void *context);
/* Lets the child run until that moment, and stops it. False: it ended before, and was reaped. */
bool tracee_go(pid_t child, uint64_t calls, uint64_t steps);
/* Lets the child go on, or kills it, and reaps it. Returns its status. */
int tracee_finish(pid_t child, bool killed);

#endif
