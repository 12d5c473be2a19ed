/* SPDX-License-Identifier: MIT
 */
#include "cli/run/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/libc.h"

struct message {
  int reason, pid;
};

/* No process keeps the caller's pipes open: their readers must see the end when the caller ends. */
static void close_others(int keep, int keep_too) {
  unsigned low = (unsigned)(keep < keep_too ? keep : keep_too),
           high = (unsigned)(keep < keep_too ? keep_too : keep);
  if (low > 3) libc_close_range(3, low - 1);
  if (high > low + 1) libc_close_range(low + 1, high - 1);
  libc_close_range(high + 1, ~0u);
}

/* The two in between: code that waits for the caller's children must not find the one that
 * goes on. */
static int become_detached(int log, int start_report, struct detached *ret_detached) {
  int reason = 0;
  if (setsid() < 0) reason = errno;
  pid_t second = reason ? -1 : fork();
  if (second > 0) _exit(0);
  if (!reason && second < 0) reason = errno;
  int nothing = reason ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
  if (!reason && (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
                  dup2(nothing, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0))
    reason = errno;
  close_others(log, start_report);
  *ret_detached = (struct detached){.start_report = start_report};
  if (!reason) return 0;
  detach_started(ret_detached, reason);
  _exit(EXIT_REFUSED);
}

static int wait_for_start(pid_t first, int from, int *ret_reason, int *ret_pid) {
  struct message message = {.reason = 0};
  ssize_t got;
  do got = read(from, &message, sizeof message);
  while (got < 0 && errno == EINTR);
  while (waitpid(first, NULL, 0) < 0 && errno == EINTR) continue;
  if (got != (ssize_t)sizeof message) {
    errno = ECHILD;
    return -1;
  }
  *ret_reason = message.reason;
  *ret_pid = message.pid;
  return 1;
}

int detach(int log, struct detached *ret_detached, int *ret_reason, int *ret_pid) {
  int start_report[2];
  if (pipe2(start_report, O_CLOEXEC)) return -1;
  pid_t first = fork();
  if (first == 0) {
    close(start_report[0]);
    return become_detached(log, start_report[1], ret_detached);
  }
  int reason = errno;
  close(start_report[1]);
  int answer = first < 0 ? -1 : wait_for_start(first, start_report[0], ret_reason, ret_pid);
  if (first >= 0) reason = errno;
  close(start_report[0]);
  errno = reason;
  return answer;
}

void detach_started(struct detached *detached, int reason) {
  const struct message message = {.reason = reason, .pid = (int)getpid()};
  ssize_t put;
  do put = write(detached->start_report, &message, sizeof message);
  while (put < 0 && errno == EINTR);
  close(detached->start_report);
  detached->start_report = -1;
}
