/* SPDX-License-Identifier: MIT
 *
 * command/state_file.h: the state of a long-running process, in a small JSON file that other
 * commands read. Beside it is a file that the process keeps locked while it lives.
 */
#ifndef COMMAND_STATE_FILE_H
#define COMMAND_STATE_FILE_H

#include <jansson.h>
#include <stdbool.h>

/* Replaces the file's contents and takes `state` over; a NULL state means that memory has run out.
 * Returns 0 or an errno. */
int state_file_write(const char *path, json_t *state);

/* NULL: there is none of this size, it is no JSON, or out of memory. */
json_t *state_file_read(const char *path, size_t largest);

/* Locks the file for as long as the descriptor is open; makes it. Returns 0 or an errno; EAGAIN:
 * another process has it. */
int state_file_hold(const char *lock, int *ret_fd);

/* Does a process hold this lock? If not, the process has ended. The check does not take the lock,
 * so it keeps no process from taking it. */
bool state_file_is_held(const char *lock);

/* Removes a lock that no process holds; holds it itself while it does so. Returns 0 or an errno;
 * EAGAIN: it is held. */
int state_file_remove(const char *lock);

#endif
