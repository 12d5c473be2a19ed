/* SPDX-License-Identifier: MIT
 *
 * copy.h: the private copy of a plugin file that is loaded in its place. The loader returns the old
 * image for a path, inode or link that it has seen before, and a build may overwrite the original
 * at any time; a new file of our own for each load has neither problem. A process that ends soon
 * keeps the copy in memory, so that no folder has to be made and removed. These functions do not
 * look into the file.
 */
#ifndef HOSTKIT_COPY_H
#define HOSTKIT_COPY_H

#include <tidings/abi.h>

/* `directory` is a fresh 0700 folder with nothing else in it; `path` is inside and keeps the
 * original's base name, so that debuggers can match it to its symbols. A copy in memory has no
 * directory; its `path` is that of its descriptor below /proc/self, in a spelling that was never
 * used before. */
struct hk_copy {
  char *directory;
  char *path;
  int fd; /* read-only, close-on-exec; -1: none */
};

#define HK_COPY_NONE ((struct hk_copy){.fd = -1})

/* `parent` is the folder to make the directory in, or NULL to look for one that is writable and may
 * hold code. Errors: NOT_FOUND (no such file), STORE (cannot be read or written; the text has the
 * reason), INVAL (not a regular file), NOMEM. */
int32_t hk_copy_make(const char *source, const char *parent, struct hk_copy *ret_copy,
                     struct tidings_error *error);

/* The same in memory. Only if the system has no memory files, or forbids to execute them, the copy
 * is a file in `parent`. */
int32_t hk_copy_make_in_memory(const char *source, const char *parent, struct hk_copy *ret_copy,
                               struct tidings_error *error);

/* Makes a copy of one whose file may be unlinked already. */
int32_t hk_copy_again(const struct hk_copy *copy, const char *parent, struct hk_copy *ret_copy,
                      struct tidings_error *error);

/* Removes the directory with all that is in it. The descriptor, and an image mapped from the file,
 * stay usable. */
void hk_copy_unlink(const struct hk_copy *copy);

/* Unlinks and frees; what remains is HK_COPY_NONE. */
void hk_copy_drop(struct hk_copy *copy);

#endif
