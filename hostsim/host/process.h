/* SPDX-License-Identifier: MIT
 *
 * host/process.h: child processes: other programs, and hostsim itself with one of its internal
 * verbs, which ends with its parent.
 */
#ifndef HOSTSIM_PROCESS_H
#define HOSTSIM_PROCESS_H

#include <stdio.h>
#include <sys/types.h>

#include "common/spawn.h"

/* The descriptor on which a child talks to its parent. */
#define PROCESS_CHANNEL_FD SPAWN_CHANNEL_FD

/* Starts hostsim again with `arguments` (NULL-terminated, the verb first). In the child, `channel`
 * becomes PROCESS_CHANNEL_FD; -1: none. Returns 0 or an errno. */
int process_start_self(const char *const arguments[], int channel, pid_t *ret_pid);

/* The same with a new channel; *ret_fd is our end. */
int process_start_with_channel(const char *const arguments[], pid_t *ret_pid, int *ret_fd);

/* Starts a program from PATH, in `folder`, with `output` as stdout and stderr (-1: /dev/null).
 * Returns 0 or an errno. */
int process_start_program(const char *const arguments[], const char *folder, int output,
                          pid_t *ret_pid);

/* An internal verb calls this first: from then on the process ends with its parent, and its own
 * children do not get the channel. */
void process_become_child(void);

/* Writes how a process ended: "was killed by signal 11 (Segmentation fault)" or "exited with code
 * 3". */
void process_describe(FILE *out, int status);

#endif
