/* SPDX-License-Identifier: MIT
 */
#include "command/session_path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/paths.h"

/* Removes "//", "." and ".." from a path, in place. The path must be absolute, so that the result
 * is never longer. */
static void tidy(char *path) {
  char *out = path;
  for (const char *at = path; *at;) {
    at += strspn(at, "/");
    size_t len = strcspn(at, "/");
    if (len == 2 && at[0] == '.' && at[1] == '.') {
      while (out > path && *--out != '/') continue;
    } else if (len && !(len == 1 && at[0] == '.')) {
      *out++ = '/';
      memmove(out, at, len);
      out += len;
    }
    at += len;
  }
  if (out == path) *out++ = '/';
  *out = '\0';
}

/* Resolves the longest part of a tidy path that exists, and keeps the rest, so that a deleted file
 * has a name too. */
static char *resolved_folder(const char *folder) {
  char *real = realpath(folder, NULL);
  if (real) return real;
  char *copy = strdup(folder), *slash = copy ? strrchr(copy, '/') : NULL;
  if (!slash || slash == copy) return copy;
  *slash = '\0';
  char *above = resolved_folder(copy), *joined = NULL;
  if (above && asprintf(&joined, "%s/%s", strcmp(above, "/") == 0 ? "" : above, slash + 1) < 0)
    joined = NULL;
  free(above);
  free(copy);
  return joined;
}

/* `folder` is absolute. */
static char *absolute(const char *folder, const char *path) {
  return path[0] == '/' ? strdup(path) : paths_join(folder, path);
}

/* Makes a folder absolute. A host may send a relative one, or none: it is relative to the current
 * folder. */
static char *absolute_folder(const char *folder) {
  char here[PATH_MAX];
  const char *base = getcwd(here, sizeof here) ? here : "/";
  return folder[0] ? absolute(base, folder) : strdup(base);
}

static char *resolved(const char *folder_of_session, const char *path) {
  char *whole = absolute(folder_of_session, path), *joined = NULL;
  if (!whole) return NULL;
  tidy(whole);
  char *slash = strrchr(whole, '/');
  if (slash == whole) return whole; /* of the root folder */
  *slash = '\0';
  char *folder = resolved_folder(whole);
  if (folder && asprintf(&joined, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, slash + 1) < 0)
    joined = NULL;
  free(folder);
  free(whole);
  return joined;
}

char *session_path(const char *cwd, const char *path) {
  char *base = absolute_folder(cwd);
  if (base) tidy(base);
  char *whole = base ? resolved(base, path) : NULL;
  char *folder = base && cwd[0] ? resolved_folder(base) : NULL;
  size_t len = folder ? strlen(folder) : 0;
  if (folder && strcmp(folder, "/") == 0) len = 0;
  if (whole && folder && strncmp(whole, folder, len) == 0 && whole[len] == '/' && whole[len + 1])
    memmove(whole, whole + len + 1, strlen(whole + len + 1) + 1);
  free(folder);
  free(base);
  return whole;
}
