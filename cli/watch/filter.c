/* SPDX-License-Identifier: MIT
 */
#include "cli/watch/filter.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const by_editors[] = {"*~", ".*.sw?", ".#*", "#*#", "4913", ".DS_Store"};

static bool name_matches(const struct filter *filter, const char *name) {
  if (strcmp(name, ".git") == 0) return true;
  for (size_t i = 0; i < sizeof by_editors / sizeof by_editors[0]; i++) {
    if (fnmatch(by_editors[i], name, 0) == 0) return true;
  }
  for (size_t i = 0; i < filter->glob_count; i++) {
    if (!strchr(filter->globs[i], '/') && fnmatch(filter->globs[i], name, 0) == 0) return true;
  }
  return false;
}

static bool path_matches(const struct filter *filter, const char *path) {
  for (size_t i = 0; i < filter->glob_count; i++) {
    const char *glob = filter->globs[i];
    if (strchr(glob, '/') &&
        fnmatch(glob + (glob[0] == '/'), path, FNM_PATHNAME | FNM_LEADING_DIR) == 0)
      return true;
  }
  return false;
}

static bool inside(const char *folder, const char *path) {
  size_t len = folder ? strlen(folder) : 0;
  return len && strncmp(folder, path, len) == 0 && (path[len] == '/' || !path[len]);
}

bool filter_leaves_out(const struct filter *filter, const char *root, const char *path) {
  char names[PATH_MAX];
  size_t root_len = strcmp(root, "/") == 0 ? 0 : strlen(root);
  for (size_t i = 0; i < sizeof filter->kept_apart / sizeof filter->kept_apart[0]; i++) {
    if (inside(filter->kept_apart[i], path)) return true;
  }
  const char *rest = strncmp(root, path, root_len) == 0 ? path + root_len : path;
  while (*rest == '/') rest++;
  size_t len = strlen(rest);
  if (len >= sizeof names) return true; /* no system call accepts it */
  if (path_matches(filter, rest)) return true;
  memcpy(names, rest, len + 1);
  char *at = NULL;
  for (const char *name = strtok_r(names, "/", &at); name; name = strtok_r(NULL, "/", &at)) {
    if (name_matches(filter, name)) return true;
  }
  return false;
}

void filter_free(struct filter *filter) {
  for (size_t i = 0; i < sizeof filter->kept_apart / sizeof filter->kept_apart[0]; i++)
    free(filter->kept_apart[i]);
}
