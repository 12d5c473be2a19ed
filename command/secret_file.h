/* SPDX-License-Identifier: MIT
 *
 * command/secret_file.h: reads a file that only its owner may read.
 */
#ifndef COMMAND_SECRET_FILE_H
#define COMMAND_SECRET_FILE_H

#include <stddef.h>

/* Reads the file; overwrite *ret_text before you free it. Checks the mode on the open descriptor,
 * so that the file cannot be exchanged in between. Returns NULL, or says what is wrong. */
const char *secret_file_read(const char *path, char **ret_text, size_t *ret_len);

#endif
