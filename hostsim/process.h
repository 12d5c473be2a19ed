/* SPDX-License-Identifier: MIT
 *
 * Child processes: hostsim started again with one of its internal verbs, and other programs. Always
 * spawned, never forked without exec, because a plugin may be loaded. Every child of ours dies with
 * its parent.
 */
#ifndef HOSTSIM_PROCESS_H
#define HOSTSIM_PROCESS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* The descriptor that a child talks to its parent on. */
#define PROCESS_CHANNEL_FD 3

/* What a child's standard output and error are. */
enum process_output { PROCESS_INHERIT, PROCESS_NULL };

/* Starts hostsim again with `arguments` (NULL-terminated, the verb first). `channel` becomes
 * PROCESS_CHANNEL_FD in it; -1: none. Returns 0 or an errno. */
int process_spawn_self(const char *const arguments[], int channel, pid_t *ret_pid);

/* Starts a program found in PATH, `directory` and `output_fd` (for stdout and stderr; -1:
 * /dev/null) as its surroundings. Returns 0 or an errno. */
int process_spawn_program(const char *const arguments[], const char *directory, int output_fd,
                          pid_t *ret_pid);

/* To be called first by an internal verb: this process ends when its parent does, and its own
 * children do not get the channel. */
void process_become_child(void);

/* Waits for a child at most timeout_ms (negative: for ever); true when it has ended and *ret_status
 * is its wait status. */
bool process_wait(pid_t pid, int timeout_ms, int *ret_status);

/* SIGKILL, then waits for the end. Returns its wait status. */
int process_kill(pid_t pid);

/* Writes how a process ended: "was killed by signal 11 (Segmentation fault)" or "exited with code
 * 3". */
void process_describe(FILE *out, int status);

#endif
