/* SPDX-License-Identifier: MIT
 *
 * command/session_path.c: see the header.
 */
#include "command/session_path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/paths.h"

/* Takes "//", "." and ".." out of an absolute path, in place. */
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

/* The longest part of a tidy path that exists is resolved, the rest kept: a file that was deleted
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

static char *absolute(const char *cwd, const char *path) {
  char here[PATH_MAX];
  if (path[0] == '/') return strdup(path);
  if (!cwd[0]) cwd = getcwd(here, sizeof here) ? here : "/";
  return paths_join(cwd, path);
}

static char *resolved(const char *cwd, const char *path) {
  char *whole = absolute(cwd, path), *joined = NULL;
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
  char *whole = resolved(cwd, path);
  char *folder = cwd[0] == '/' ? resolved_folder(cwd) : NULL;
  size_t len = folder ? strlen(folder) : 0;
  if (folder && strcmp(folder, "/") == 0) len = 0;
  if (whole && folder && strncmp(whole, folder, len) == 0 && whole[len] == '/' && whole[len + 1])
    memmove(whole, whole + len + 1, strlen(whole + len + 1) + 1);
  free(folder);
  return whole;
}
