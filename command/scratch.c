/* SPDX-License-Identifier: MIT
 *
 * command/scratch.c: see the header.
 */
#include "command/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *scratch_make(void) {
  const char *base = getenv("TMPDIR");
  char *folder = NULL;
  if (asprintf(&folder, "%s/tidings-XXXXXX", base && base[0] == '/' ? base : "/tmp") < 0) {
    errno = ENOMEM;
    return NULL;
  }
  if (mkdtemp(folder)) return folder;
  int reason = errno;
  free(folder);
  errno = reason;
  return NULL;
}

/* A store has no folders in it. */
void scratch_remove(char *folder) {
  DIR *dir = folder ? opendir(folder) : NULL;
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      (void)unlinkat(dirfd(dir), entry->d_name, 0);
  }
  if (dir) closedir(dir);
  if (folder) (void)rmdir(folder);
  free(folder);
}
