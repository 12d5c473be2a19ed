/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C and SIGTERM: noted, so that loops end and clean up behind themselves instead of leaving
 * folders and processes.
 */
#ifndef HOSTSIM_INTERRUPT_H
#define HOSTSIM_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM are only noted; poll, read and sleeps end with EINTR. */
void interrupt_catch(void);

bool interrupt_seen(void);

/* 128 + the signal that was seen, as shells say it. */
int interrupt_exit_code(void);

/* Sleeps; returns early when interrupted. For the pace of what people read, never to wait for
 * something. */
void interrupt_pause_ms(unsigned milliseconds);

#endif
