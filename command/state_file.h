/* SPDX-License-Identifier: MIT
 *
 * command/state_file.h: how a process that runs for long is, as a small JSON file that another
 * command reads; beside it is a file that the process has locked for as long as it lives.
 */
#ifndef COMMAND_STATE_FILE_H
#define COMMAND_STATE_FILE_H

#include <jansson.h>
#include <stdbool.h>

/* Replaces the file: takes `state` over (NULL: out of memory). Returns 0 or an errno. */
int state_file_write(const char *path, json_t *state);

/* NULL: there is none of this size, it is no JSON, or out of memory. */
json_t *state_file_read(const char *path, size_t largest);

/* Locks the file for as long as the descriptor is open; makes it. Returns 0 or an errno; EAGAIN:
 * another process has it. */
int state_file_hold(const char *lock, int *ret_fd);

/* Does a process hold this lock? Without that, its process has ended. Only looks: a process that
 * takes the lock at this moment gets it. */
bool state_file_is_held(const char *lock);

/* Removes a lock that no process holds, and has it meanwhile. Returns 0 or an errno; EAGAIN: it is
 * held. */
int state_file_remove(const char *lock);

#endif
