/* SPDX-License-Identifier: MIT
 */
#include <fcntl.h>

#include "common/libc.h"
#include "common/open_files.h"

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
static int add_close(int fd, void *actions) {
  int flags = fcntl(fd, F_GETFD);
  return flags < 0 || (flags & FD_CLOEXEC) ? 0 : posix_spawn_file_actions_addclose(actions, fd);
}

/* A descriptor that another thread opens after this is left to that thread, which is expected to
 * open it with O_CLOEXEC. */
int libc_spawn_closes_from(posix_spawn_file_actions_t *actions, int first) {
  return visit_open((unsigned)first, ~0u, add_close, actions);
}
#endif
