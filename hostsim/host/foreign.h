/* SPDX-License-Identifier: MIT
 *
 * host/foreign.h: hosts that are not hostsim, in any language. A host is a command that answers the
 * requests of agent_child.c on descriptor 3, in the frames of wire.h. It loads the clock plugin
 * instead of the plugin under test.
 */
#ifndef HOSTSIM_FOREIGN_H
#define HOSTSIM_FOREIGN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Makes this shell command start all agents, until the process ends. The command is one program
 * with its arguments, which replaces the shell. Returns 0 or an errno. */
int foreign_use(const char *command);
bool foreign_in_use(void);
/* Removes what foreign_use made. */
void foreign_finish(void);

/* Starts the host, like process_start_with_channel. Returns 0 or an errno. */
int foreign_start(uint64_t seed, pid_t *ret_pid, int *ret_fd);

/* Sets the plugin's clock to the request's. In "open", replaces the plugin by the clock plugin. */
void foreign_prepare(json_t *request);

#endif
