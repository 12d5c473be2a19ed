/* SPDX-License-Identifier: MIT
 *
 * command/state_file.h: keeps the state of a long-running process in a small JSON file that other
 * commands read. The process locks another file beside it for as long as it lives.
 */
#ifndef COMMAND_STATE_FILE_H
#define COMMAND_STATE_FILE_H

#include <jansson.h>
#include <stdbool.h>

/* Replaces the file's contents and takes `state` over; a NULL state means that memory has run out.
 * Returns 0 or an errno. */
int state_file_write(const char *path, json_t *state);

/* NULL: there is no such file, it is larger than `largest`, it is not JSON, or memory ran out. */
json_t *state_file_read(const char *path, size_t largest);

/* Makes the lock file and locks it for as long as the descriptor is open. Returns 0 or an errno;
 * EAGAIN: another process has locked it. */
int state_file_hold(const char *lock, int *ret_fd);

/* Does a process hold this lock? If not, the process has ended. The check does not take the lock,
 * so it keeps no process from taking it. */
bool state_file_is_held(const char *lock);

/* Removes a lock that no process holds, and holds it while it does so. Returns 0 or an errno;
 * EAGAIN: it is held. */
int state_file_remove(const char *lock);

#endif
