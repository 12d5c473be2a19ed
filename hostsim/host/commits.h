/* SPDX-License-Identifier: MIT
 *
 * Kills a process inside a commit. hostsim has its own pwrite and fdatasync, which a store's
 * library finds before libc's. While armed, they count commits and kill this process inside the
 * n-th, before its head is written, so that commit does not count.
 */
#ifndef HOSTSIM_COMMITS_H
#define HOSTSIM_COMMITS_H

#include <stdint.h>

/* Starts to count; dies in the n-th commit (0: only counts). */
void commits_arm(uint64_t n);

/* Stops counting. Returns how many commits there were since commits_arm. */
uint64_t commits_disarm(void);

/* From now on no commit waits for the disk: for simulations that kill processes, but never the
 * machine. */
void commits_skip_sync(void);

#endif
