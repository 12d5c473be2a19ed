/* SPDX-License-Identifier: MIT
 *
 * watch/filter.h: the paths that are left out whatever git says: .git, the store, files that
 * editors make beside a file, and those that the user named.
 */
#ifndef TIDINGS_CLI_WATCH_FILTER_H
#define TIDINGS_CLI_WATCH_FILTER_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_GLOBS = 128 };

/* Zero is one without globs. */
struct filter {
  const char *globs[MOST_GLOBS]; /* borrowed; without a slash at the end */
  size_t glob_count;
  char *kept_apart[2]; /* our own folders: our writes there must not be reported as changes; NULL:
                          none */
};

/* `path` lies inside `root`; only the part after it is looked at. A glob without a slash is
 * for each name on the way, one with a slash for the path from the root on (a leading slash is not
 * needed), folders with all that is in them. */
bool filter_leaves_out(const struct filter *filter, const char *root, const char *path);
void filter_free(struct filter *filter);

#endif
