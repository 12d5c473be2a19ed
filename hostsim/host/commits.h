/* SPDX-License-Identifier: MIT
 *
 * host/commits.h: kills a process inside a commit. A store's library finds hostsim's pwrite and
 * fdatasync before libc's. While armed, they count commits and kill this process inside the n-th,
 * before its head is written, so that commit is not stored.
 */
#ifndef HOSTSIM_COMMITS_H
#define HOSTSIM_COMMITS_H

#include <stdint.h>

/* Starts to count commits; the process dies in the n-th one (0: only counts). */
void commits_arm(uint64_t n);

/* Stops counting. Returns how many commits there were since commits_arm. */
uint64_t commits_disarm(void);

/* After this no commit waits for the disk. It is for simulations that kill processes, but never the
 * machine. */
void commits_skip_sync(void);

#endif
