/* SPDX-License-Identifier: MIT
 *
 * Death inside a commit. hostsim has a pwrite and an fdatasync of its own, which a store's library
 * finds before libc's; while armed they count commits and kill this process inside the n-th, before
 * its head is written, so that nothing of it counts.
 */
#ifndef HOSTSIM_COMMITS_H
#define HOSTSIM_COMMITS_H

#include <stdint.h>

/* From now on count; die in the n-th (0: only count). */
void commits_arm(uint64_t n);

/* Counts no more. Returns how many there were since commits_arm. */
uint64_t commits_disarm(void);

/* From now on no commit waits for the disk: for simulations in which processes die, but the machine
 * never does. */
void commits_skip_sync(void);

#endif
