/* SPDX-License-Identifier: MIT
 *
 * io/full_disk.h: a disk on which nothing more can be allocated: pushes are refused in words, and
 * what was pending is still delivered and settled.
 */
#ifndef IO_FULL_DISK_H
#define IO_FULL_DISK_H

#include "kit/arguments.h"

/* The disk is made full by refusing, in the C library's place, whatever needs blocks that a file
 * does not have yet. */
void full_disk_simulated(const struct arguments *arguments);
/* A real one: a small tmpfs, filled to the brim. False if this process may not mount. */
bool full_disk_tmpfs(const struct arguments *arguments);

#endif
