/* SPDX-License-Identifier: MIT
 *
 * command/interrupt.h: notes signals that ask a program to stop, but only at places where the
 * program can stop in an orderly way.
 */
#ifndef COMMAND_INTERRUPT_H
#define COMMAND_INTERRUPT_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

/* After this call SIGINT, SIGTERM, SIGHUP and SIGQUIT are held back until interrupt_poll. Signals
 * that were ignored stay ignored. */
void interrupt_begin(void);
bool interrupt_has_begun(void);

/* Calls poll; such a signal ends it with EINTR. `timeout_ms` -1: for ever. */
int interrupt_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

/* For a program whose loops check interrupt_seen themselves: after this call SIGINT and SIGTERM,
 * and SIGHUP if it was not ignored, are only noted, and end poll, read and sleeps with EINTR. */
void interrupt_catch(void);
/* The same for SIGPIPE: for a program that has to remove something when its reader has gone. */
void interrupt_catch_pipe(void);

/* Lets in a signal that is held back. Has any come? */
bool interrupt_came(void);

/* The signal that came; 0: none yet. */
int interrupt_seen(void);
/* 128 + that signal, as shells say it. */
int interrupt_exit_code(void);

/* Sleeps; returns early when interrupted. It only paces output that people read, and never waits
 * for something. */
void interrupt_pause_ms(unsigned milliseconds);

#endif
