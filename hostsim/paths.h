/* SPDX-License-Identifier: MIT
 *
 * Where things are: this program, the plugin beside it, temporary folders.
 */
#ifndef HOSTSIM_PATHS_H
#define HOSTSIM_PATHS_H

#include <stddef.h>

/* The plugin to use when none was named: tidings.so beside this program, else where it is
 * installed. Free the answer; NULL: out of memory. */
char *paths_default_plugin(void);

/* dir/name in fresh memory; NULL: out of memory. */
char *paths_join(const char *dir, const char *name);

/* Makes a folder of mode 0700 in $TMPDIR or /tmp. Free the answer; NULL with errno set. */
char *paths_make_temp(const char *prefix);

/* Removes a folder with all that is in it, following no symbolic link. Returns 0, or -1 with errno
 * set. */
int paths_remove_tree(const char *dir);

/* Copies a file (new mode 0600, or 0700 when the source may be executed). Returns 0, or -1 with
 * errno set. */
int paths_copy_file(const char *from, const char *to);

/* Reads a whole file into fresh memory with a NUL behind it. Returns 0, or -1 with errno set. */
int paths_read_file(const char *path, char **ret_bytes, size_t *ret_len);

/* Writes a whole file. Returns 0, or -1 with errno set. */
int paths_write_file(const char *path, const char *bytes, size_t len);

#endif
