/* SPDX-License-Identifier: MIT
 *
 * host/process.c: child processes: hostsim started again with one of its internal verbs, and other
 * programs.
 */
#include "host/process.h"

#include "common/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 64 };

int process_start_self(const char *const arguments[], int channel, pid_t *ret_pid) {
  const char *argv[MOST_ARGUMENTS] = {"hostsim"};
  for (size_t i = 0; arguments[i]; i++) {
    if (i + 2 == MOST_ARGUMENTS) return E2BIG;
    argv[i + 1] = arguments[i];
  }
  const struct spawn spawn = {
      .program = "/proc/self/exe", .argv = argv, .channel = channel < 0 ? 0 : channel};
  return spawn_start(&spawn, ret_pid);
}

int process_start_with_channel(const char *const arguments[], pid_t *ret_pid, int *ret_fd) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return errno;
  int reason = process_start_self(arguments, pair[1], ret_pid);
  close(pair[1]);
  if (reason) close(pair[0]);
  else *ret_fd = pair[0];
  return reason;
}

int process_start_program(const char *const arguments[], const char *folder, int output,
                          pid_t *ret_pid) {
  const struct spawn spawn = {.argv = arguments,
                              .folder = folder,
                              .in = SPAWN_NULL,
                              .out = output < 0 ? SPAWN_NULL : output,
                              .err = SPAWN_AS_OUT};
  return spawn_start(&spawn, ret_pid);
}

void process_become_child(void) {
  pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE); /* the parent died before the line above */
  fcntl(PROCESS_CHANNEL_FD, F_SETFD,
        FD_CLOEXEC); /* fails if there is no channel, and then nothing has to be hidden */
}

void process_describe(FILE *out, int status) {
  if (WIFSIGNALED(status))
    fprintf(out, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else fprintf(out, "exited with code %d", WEXITSTATUS(status));
}
