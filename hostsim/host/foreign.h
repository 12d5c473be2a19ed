/* SPDX-License-Identifier: MIT
 *
 * host/foreign.h: hosts that are not hostsim, in any language: a command that answers the requests
 * of agent_child.c on descriptor 3, in the frames of wire.h. It loads the clock plugin in place of
 * the plugin under test.
 */
#ifndef HOSTSIM_FOREIGN_H
#define HOSTSIM_FOREIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* For the rest of the process: agents are what this shell command starts: one program with its
 * arguments, which takes the place of the shell. Returns 0 or an errno. */
int foreign_use(const char *command);
bool foreign_in_use(void);
/* Removes what foreign_use made. */
void foreign_finish(void);

/* Starts the host, as process_start_with_channel does. Returns 0 or an errno. */
int foreign_start(uint64_t seed, pid_t *ret_pid, int *ret_fd);

/* Sets the clock of the plugin to that of the request; in "open", names the clock plugin. */
void foreign_prepare(json_t *request);

#endif
