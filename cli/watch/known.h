/* SPDX-License-Identifier: MIT
 *
 * watch/known.h: remembers which files exist and when each was last changed, so that a replaced
 * file is not taken for a new one, and so that changes are found although the kernel dropped
 * events. It keeps 16 bytes a file: a hash of its path, and its time.
 */
#ifndef TIDINGS_CLI_WATCH_KNOWN_H
#define TIDINGS_CLI_WATCH_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_file {
  uint64_t hash; /* 0: an empty place */
  int64_t time;  /* when the inode last changed, in ns; KNOWN_GONE: the file was deleted */
};
enum { KNOWN_GONE = 0 };

/* Zero: empty. */
struct known {
  struct known_file *files;
  size_t mask, count; /* the number of places - 1; the number of used places, including deleted
                         files */
};

bool known_find(const struct known *known, const char *path, int64_t *ret_time);
int known_put(struct known *known, const char *path, int64_t time); /* 0, or -1: out of memory */
void known_remove(struct known *known, const char *path);
void known_free(struct known *known);

#endif
