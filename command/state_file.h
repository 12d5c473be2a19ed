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

/* Does a process hold this lock? Without that, its process has ended. */
bool state_file_is_held(const char *lock);

#endif
