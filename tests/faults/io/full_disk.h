/* SPDX-License-Identifier: MIT
 *
 * io/full_disk.h: tests a disk on which nothing more can be allocated: pushes are refused with a
 * sentence, and pending notifications are still delivered and settled.
 */
#ifndef IO_FULL_DISK_H
#define IO_FULL_DISK_H

#include "kit/arguments.h"

/* Simulates a full disk: replacements of the C library's functions refuse all calls that need new
 * blocks. */
void full_disk_simulated(const struct arguments *arguments);
/* Uses a real full disk: a small tmpfs. False: this process may not mount one. */
bool full_disk_tmpfs(const struct arguments *arguments);

#endif
