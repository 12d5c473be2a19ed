/* SPDX-License-Identifier: MIT
 *
 * watch/changes.h: the paths that changed since the last report. The kind of a change is determined
 * when it is reported: of a file that was written, renamed and written again it only matters that
 * it exists and differs.
 */
#ifndef TIDINGS_CLI_WATCH_CHANGES_H
#define TIDINGS_CLI_WATCH_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct change {
  char *path;                /* absolute */
  bool existed;              /* it existed before its first change */
  int64_t time;              /* when it had last been changed before that */
  bool renamed;              /* it was renamed to another watched path */
  bool folder;               /* it is or was a folder */
  bool made;                 /* a folder that has this name because it was renamed */
  int64_t first_ms, last_ms; /* when its first and last change were seen, by the wall clock */
  uint32_t cookie;           /* the cookie of the rename that took it away; 0: none */
};

/* Zero: empty. */
struct changes {
  struct change *list;
  size_t count, room;
  size_t *index; /* a hash table: places in the list, plus 1 */
  size_t mask;
};

/* Returns the entry of a path that changes now; *ret_new: it was just added, and is zero except its
 * path and times. NULL: out of memory. The pointer is valid until the next call. */
struct change *changes_of(struct changes *changes, const char *path, bool *ret_new);
struct change *changes_by_cookie(struct changes *changes,
                                 uint32_t cookie); /* NULL: there is none */
bool changes_below(const struct changes *changes,
                   const char *path); /* is a changed folder above `path` no longer there? Its entry
                                         has `folder` set */
void changes_clear(struct changes *changes);
void changes_free(struct changes *changes);

#endif
