/* SPDX-License-Identifier: MIT
 *
 * common/libc_spawn.c: see libc.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "common/libc.h"

#ifdef __GLIBC__
#define CLOSES_FROM __GLIBC_PREREQ(2, 34)
#else
#define CLOSES_FROM 0
#endif

#if CLOSES_FROM
int libc_spawn_closes_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
#else
/* Those that are open now. One that another thread opens after this is left to that thread, which
 * is expected to open it with O_CLOEXEC. */
int libc_spawn_closes_from(posix_spawn_file_actions_t *actions, int first) {
  DIR *folder = opendir("/proc/self/fd");
  int reason = 0;
  if (!folder) return errno;
  for (const struct dirent *entry; !reason && (entry = readdir(folder));) {
    int fd = (int)strtol(entry->d_name, NULL, 10); /* "." and "..": 0 */
    int flags = fd >= first && fd != dirfd(folder) ? fcntl(fd, F_GETFD) : FD_CLOEXEC;
    if (flags >= 0 && !(flags & FD_CLOEXEC))
      reason = posix_spawn_file_actions_addclose(actions, fd);
  }
  closedir(folder);
  return reason;
}
#endif
