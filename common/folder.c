/* SPDX-License-Identifier: MIT
 */
#include "common/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_FOLDERS = 16 };

char *folder_make_temporary(const char *parent, const char *prefix) {
  const char *usual = getenv("TMPDIR");
  if (!parent) parent = usual && usual[0] == '/' ? usual : "/tmp";
  size_t size = strlen(parent) + strlen(prefix) + sizeof "/-XXXXXX";
  char *path = malloc(size);
  if (!path) {
    errno = ENOMEM;
    return NULL;
  }
  snprintf(path, size, "%s/%s-XXXXXX", parent, prefix);
  if (mkdtemp(path)) return path;
  int reason = errno;
  free(path);
  errno = reason;
  return NULL;
}

static _Thread_local int first_reason;

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info;
  (void)kind;
  (void)where;
  if (remove(path) && !first_reason) first_reason = errno;
  return 0;
}

int folder_remove_all(const char *path) {
  if (!path) return 0;
  int saved_errno = errno;
  first_reason = 0;
  if (nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) && !first_reason)
    first_reason = errno;
  errno = saved_errno;
  return first_reason;
}
