/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/apart.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/open_files.h"

/* Closes a descriptor without close-on-exec: ours have it, so this one was inherited. */
static int close_inherited(int fd, void *context) {
  (void)context;
  int flags = fcntl(fd, F_GETFD);
  if (flags >= 0 && !(flags & FD_CLOEXEC)) close(fd);
  return 0;
}

/* Closes the hook's pipes, because the host waits until they are closed, and all else that this
 * process has inherited, such as the lock of a `flock` around the hook. */
static void leave_host(void) {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; null >= 0 && fd <= 2; fd++) (void)dup2(null, fd);
  if (null > 2) close(null);
  (void)visit_open(STDERR_FILENO + 1, ~0u, close_inherited, NULL);
  (void)setsid();
}

bool hook_fork_apart(void) {
  pid_t child = fork();
  if (child == 0) {
    leave_host();
    if (fork() != 0) _exit(0);
    return true;
  }
  if (child > 0) (void)waitpid(child, NULL, 0);
  return false;
}
