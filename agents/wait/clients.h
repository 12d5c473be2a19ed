/* SPDX-License-Identifier: MIT
 *
 * agents/wait/clients.h: finds the processes that are connected to a daemon's Unix sockets.
 */
#ifndef AGENTS_WAIT_CLIENTS_H
#define AGENTS_WAIT_CLIENTS_H

#include <stddef.h>
#include <stdint.h>

/* Writes the processes that are connected to sockets of `daemon` and that this user may see: each
 * once, and at most `most`. Returns how many; -1: the kernel does not answer. */
int hook_clients(uint32_t daemon, uint32_t *pids, size_t most);

#endif
