/* SPDX-License-Identifier: MIT
 *
 * command/secret_file.h: reading a file that only its owner may read.
 */
#ifndef COMMAND_SECRET_FILE_H
#define COMMAND_SECRET_FILE_H

#include <stddef.h>

/* Overwrite *ret_text before you free it. The file's mode is checked on the open descriptor, so
 * that the file cannot be exchanged in between. Returns NULL, or what is wrong. */
const char *secret_file_read(const char *path, char **ret_text, size_t *ret_len);

#endif
