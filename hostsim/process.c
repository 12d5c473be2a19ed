/* SPDX-License-Identifier: MIT
 *
 * Child processes: hostsim started again with one of its internal verbs, and other programs.
 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void free_arguments(char **copy) {
  for (size_t i = 0; copy && copy[i]; i++) free(copy[i]);
  free(copy);
}

/* posix_spawn takes argv as char *const[], although it does not write to it; copies keep the types
 * honest. `first` may be NULL. */
static char **copy_arguments(const char *first, const char *const arguments[]) {
  size_t count = 0;
  while (arguments[count]) count++;
  char **copy = calloc(count + 2, sizeof *copy);
  size_t at = 0;
  if (copy && first) copy[at++] = strdup(first);
  for (size_t i = 0; copy && i < count && (at == 0 || copy[at - 1]); i++)
    copy[at++] = strdup(arguments[i]);
  if (!copy || at == 0 || !copy[at - 1]) {
    free_arguments(copy);
    return NULL;
  }
  return copy;
}

int process_spawn_self(const char *const arguments[], int channel, pid_t *ret_pid) {
  char **argv = copy_arguments("hostsim", arguments);
  if (!argv) return ENOMEM;
  posix_spawn_file_actions_t actions;
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed != 0) {
    free_arguments(argv);
    return failed;
  }
  if (channel >= 0)
    failed = posix_spawn_file_actions_adddup2(&actions, channel, PROCESS_CHANNEL_FD);
  if (failed == 0) failed = posix_spawn(ret_pid, "/proc/self/exe", &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  free_arguments(argv);
  return failed;
}

int process_spawn_program(const char *const arguments[], const char *directory, int output_fd,
                          pid_t *ret_pid) {
  char **argv = copy_arguments(NULL, arguments);
  if (!argv) return ENOMEM;
  posix_spawn_file_actions_t actions;
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed != 0) {
    free_arguments(argv);
    return failed;
  }
  failed = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (failed == 0 && output_fd >= 0)
    failed = posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
  else if (failed == 0)
    failed = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (failed == 0)
    failed = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  if (failed == 0 && directory) failed = posix_spawn_file_actions_addchdir_np(&actions, directory);
  if (failed == 0) failed = posix_spawnp(ret_pid, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  free_arguments(argv);
  return failed;
}

void process_become_child(void) {
  pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE); /* it died before the line above */
  fcntl(PROCESS_CHANNEL_FD, F_SETFD,
        FD_CLOEXEC); /* fails when there is none: nothing to hide then */
}

bool process_wait(pid_t pid, int timeout_ms, int *ret_status) {
  /* Kernels before 5.3 have no pidfd: there the wait has no limit. */
  int fd = timeout_ms >= 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
  if (fd >= 0) {
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    int ready = poll(&ended, 1, timeout_ms);
    close(fd);
    if (ready <= 0) return false;
  }
  while (waitpid(pid, ret_status, 0) < 0) {
    if (errno != EINTR) {
      *ret_status = 0;
      return true;
    }
  }
  return true;
}

int process_kill(pid_t pid) {
  int status = 0;
  kill(pid, SIGKILL);
  process_wait(pid, -1, &status);
  return status;
}

void process_describe(FILE *out, int status) {
  if (WIFSIGNALED(status))
    fprintf(out, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else fprintf(out, "exited with code %d", WEXITSTATUS(status));
}
