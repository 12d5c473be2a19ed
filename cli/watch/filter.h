/* SPDX-License-Identifier: MIT
 *
 * watch/filter.h: the paths whose changes are never reported: .git, the store, files that editors
 * make beside a file, and the user's globs.
 */
#ifndef TIDINGS_CLI_WATCH_FILTER_H
#define TIDINGS_CLI_WATCH_FILTER_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_GLOBS = 128 };

/* Zero: without globs. */
struct filter {
  const char *globs[MOST_GLOBS]; /* borrowed; without a slash at the end */
  size_t glob_count;
  char *kept_apart[2]; /* folders to which this program writes; changes there are not reported.
                          NULL: none */
};

/* Is `path`, which is inside `root`, left out? A glob without a slash is compared with each name
 * after the root, a glob with a slash with the whole path after the root (a leading slash is
 * optional). A matching folder is left out with its content. */
bool filter_leaves_out(const struct filter *filter, const char *root, const char *path);
void filter_free(struct filter *filter);

#endif
