/* SPDX-License-Identifier: MIT
 *
 * command/secret_file.h: reading a file that only its owner may read.
 */
#ifndef COMMAND_SECRET_FILE_H
#define COMMAND_SECRET_FILE_H

#include <stddef.h>

/* *ret_text: free it, after it was overwritten. Its mode is looked at where it is read, so that it
 * cannot change in between. Returns NULL, or what is wrong. */
const char *secret_file_read(const char *path, char **ret_text, size_t *ret_len);

#endif
