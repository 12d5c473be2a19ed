/* SPDX-License-Identifier: MIT
 *
 * kit/folder.h: scratch folders and the files in them. A failure ends the test, because these
 * functions are not tested.
 */
#ifndef KIT_FOLDER_H
#define KIT_FOLDER_H

#include <stddef.h>
#include <stdint.h>

enum { FOLDER_PATH_MAX = 512 };

/* Makes a new folder in `base`, with mode 0700; `path` gets its path (FOLDER_PATH_MAX bytes). */
void folder_make(const char *base, const char *prefix, char *path);
/* Removes the folder with everything in it, if it exists. */
void folder_remove(const char *path);
/* Copies the regular files of a folder, sparse and with their modes, into a new one. */
void folder_copy(const char *from, const char *to);
/* Sets `path` to folder + "/" + name. */
void folder_join(char *path, const char *folder, const char *name);

/* Reads the whole file into malloc'ed memory. */
uint8_t *file_read(const char *path, size_t *ret_length);
void file_write(const char *path, const void *bytes, size_t length);

#endif
