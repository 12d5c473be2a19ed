/* SPDX-License-Identifier: MIT
 *
 * remove_tree.c: see the header.
 */
#include "remove_tree.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>

#define OPEN_FOLDERS 8

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *position) {
  (void)status;
  (void)type;
  (void)position;
  (void)remove(path);
  return 0;
}

void hk_remove_tree(const char *path) {
  int saved = errno;
  nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
  errno = saved;
}
