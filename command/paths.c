/* SPDX-License-Identifier: MIT
 */
#include "command/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *paths_join(const char *folder, const char *name) {
  char *path = NULL;
  return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

char *paths_beside_program(const char *name, const char *installed) {
  char folder[PATH_MAX] = ".";
  ssize_t len = readlink("/proc/self/exe", folder, sizeof folder - 1);
  if (len > 0) {
    folder[len] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
  }
  char *path = paths_join(folder, name);
  if (!path || access(path, F_OK) == 0) return path;
  free(path);
  return paths_join(folder, installed);
}

char *paths_in_home(const char *variable, const char *folder_of_home, const char *name) {
  const char *base = getenv(variable), *home = getenv("HOME");
  char *path = NULL;
  if (base && base[0] == '/') return paths_join(base, name);
  if (!home || home[0] != '/') return NULL;
  return asprintf(&path, "%s/%s/%s", home, folder_of_home, name) < 0 ? NULL : path;
}

int paths_make_folders(const char *path) {
  char *copy = strdup(path);
  int reason = copy ? 0 : ENOMEM;
  for (char *at = copy ? copy + 1 : NULL; !reason && at;) {
    at = strchr(at, '/');
    if (at) *at = '\0';
    if (mkdir(copy, 0700) && errno != EEXIST) reason = errno;
    if (at) *at++ = '/';
  }
  struct stat info;
  if (!reason && stat(path, &info)) reason = errno;
  else if (!reason && !S_ISDIR(info.st_mode)) reason = ENOTDIR;
  free(copy);
  return reason;
}
