/* SPDX-License-Identifier: MIT
 *
 * common/open_files.h: lists open descriptors, for the functions of libc.h that close them on
 * systems without a better way.
 */
#ifndef COMMON_OPEN_FILES_H
#define COMMON_OPEN_FILES_H

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

/* Calls `visit` with each open descriptor from `first` to `last`, until it returns anything but 0.
 * Returns that value, or an errno. */
static inline int visit_open(unsigned first, unsigned last, int (*visit)(int fd, void *context),
                             void *context) {
  DIR *folder = opendir("/proc/self/fd");
  int reason = 0;
  if (!folder) return errno;
  for (const struct dirent *entry; !reason && (entry = readdir(folder));) {
    if (*entry->d_name == '.') continue;
    unsigned fd = (unsigned)strtoul(entry->d_name, NULL, 10);
    if (fd >= first && fd <= last && (int)fd != dirfd(folder)) reason = visit((int)fd, context);
  }
  closedir(folder);
  return reason;
}

#endif
