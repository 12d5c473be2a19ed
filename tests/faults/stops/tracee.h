/* SPDX-License-Identifier: MIT
 *
 * stops/tracee.h: a child that is stopped at a chosen moment: after so many entries and exits of
 * system calls, and so many more instructions.
 */
#ifndef STOPS_TRACEE_H
#define STOPS_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Runs `body` in a child that waits at its beginning. -1: children cannot be traced here. */
pid_t tracee_start(void (*body)(void *context), void *context);
/* Lets the child run until that moment, and stops it there. False: it had ended before, and was
 * reaped. */
bool tracee_go(pid_t child, uint64_t calls, uint64_t steps);
/* Lets the child go on, or kills it, and reaps it. Returns its status. */
int tracee_finish(pid_t child, bool killed);

#endif
