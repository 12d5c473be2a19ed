/* SPDX-License-Identifier: MIT
 *
 * command/paths.h: where things are, and small files read whole.
 */
#ifndef COMMAND_PATHS_H
#define COMMAND_PATHS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Each path is fresh memory; NULL: out of memory. */

/* "a/b". */
char *paths_join(const char *folder, const char *name);
/* `name` in this program's own folder if it is there, else `installed`, which is relative to that
 * folder. */
char *paths_beside_program(const char *name, const char *installed);
/* `name` in the folder that the variable names, or in that folder of the home. NULL too when
 * neither is known. Paths that are not absolute count as not set. */
char *paths_in_home(const char *variable, const char *folder_of_home, const char *name);

/* Makes a folder and those above it, each new one with mode 0700. Returns 0 or an errno. */
int paths_make_folders(const char *path);

/* Reads a regular file of at most `most` bytes whole, with a NUL behind it. Returns 0 or an errno
 * (EFBIG: it is larger). */
int paths_read_file(const char *path, size_t most, char **ret_text, size_t *ret_len);
/* The same from a descriptor, whatever it is. */
int paths_read_all(int fd, size_t most, char **ret_text, size_t *ret_len);
/* The same, but what is larger is no error: reading stops when there are more than `most` bytes. */
int paths_read_beyond(int fd, size_t most, char **ret_text, size_t *ret_len);

/* Writes all of it. Returns 0 or an errno. */
int paths_write_all(int fd, const char *bytes, size_t len);

#endif
