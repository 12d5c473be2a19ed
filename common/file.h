/* SPDX-License-Identifier: MIT
 *
 * common/file.h: reads and writes whole files. All functions return 0 or an errno. The plugin does
 * not use them.
 */
#ifndef COMMON_FILE_H
#define COMMON_FILE_H

#include <stddef.h>

/* Reads a regular file of at most `most` bytes whole, with a NUL after it. Free the text. EFBIG: it
 * is larger. */
int file_read_whole(const char *path, size_t most, char **ret_text, size_t *ret_len);
/* The same from a descriptor of any kind. */
int file_read_all(int fd, size_t most, char **ret_text, size_t *ret_len);
/* The same, but a larger file is no error: reading stops when there are more than `most` bytes. */
int file_read_beyond(int fd, size_t most, char **ret_text, size_t *ret_len);

/* Writes all bytes, whether the descriptor blocks or not. */
int file_write_all(int fd, const char *bytes, size_t len);
/* Makes a file (mode 0600), or replaces the contents of an existing one. */
int file_write_whole(const char *path, const char *bytes, size_t len);

/* Copies a file. The copy has mode 0600, or 0700 if the original may be executed. */
int file_copy(const char *from, const char *to);

#endif
