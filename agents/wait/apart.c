/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/apart.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Closes the hook's pipes, because the host waits until they are closed. */
static void leave_host(void) {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; null >= 0 && fd <= 2; fd++) (void)dup2(null, fd);
  if (null > 2) close(null);
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
