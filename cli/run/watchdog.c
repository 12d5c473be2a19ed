/* SPDX-License-Identifier: MIT
 *
 * run/watchdog.c: the watchdog holds one end of a pipe. The run holds the other end, which closes
 * however the run ends; a byte in the pipe says that the run reported its end.
 */
#include "cli/run/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/libc.h"

static const char well = 1;
static const struct watchdog no_watchdog = {.pid = 0, .fd = -1};

/* Closes everything of the run, because its readers must see the end when it ends. */
static void daemonize(int *fd) {
  sigset_t none;
  sigemptyset(&none);
  (void)setsid(); /* a signal to the run's whole group does not end it */
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = STDIN_FILENO; nothing >= 0 && standard <= STDERR_FILENO; standard++)
    (void)dup2(nothing, standard);
  if (*fd != STDERR_FILENO + 1 && dup2(*fd, STDERR_FILENO + 1) >= 0) *fd = STDERR_FILENO + 1;
  libc_close_range((unsigned)*fd + 1, ~0u);
}

/* Reads the output from the log, because the memory of the run is gone. */
static void read_log(const struct run_log *log, struct tail *tail, struct excerpt *excerpt) {
  static char bytes[65536];
  int fd = open(log->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  for (ssize_t got; fd >= 0 && (got = read(fd, bytes, sizeof bytes)) > 0;) {
    tail_add(tail, bytes, (size_t)got);
    excerpt_add(excerpt, bytes, (size_t)got);
  }
  excerpt_end(excerpt);
  if (fd >= 0) close(fd);
}

_Noreturn static void watch_over(const struct report *report, uint64_t begun_ms, int fd) {
  static struct tail tail;
  static struct excerpt excerpt;
  struct report lost = *report;
  char byte = 0;
  ssize_t got;
  daemonize(&fd);
  do got = read(fd, &byte, sizeof byte);
  while (got < 0 && errno == EINTR);
  if (got == 0) {
    excerpt.unmasked = report->unmasked;
    read_log(report->log, &tail, &excerpt);
    lost.tail = &tail;
    lost.excerpt = &excerpt;
    lost.patient = true;
    (void)report_lost(&lost, (uint64_t)clock_mono_ms() - begun_ms);
  }
  _exit(0);
}

/* Waits until the child has closed its end of this pipe, with all else that it does not keep. */
static void wait_until_apart(int fd) {
  char byte;
  while (read(fd, &byte, sizeof byte) < 0 && errno == EINTR) continue;
}

static struct watchdog split(const struct report *report, uint64_t begun_ms, const int ends[2],
                             const int apart[2]) {
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[1]);
    watch_over(report, begun_ms, ends[0]);
  }
  close(ends[0]);
  close(apart[1]);
  if (pid > 0) wait_until_apart(apart[0]);
  else close(ends[1]);
  close(apart[0]);
  return pid > 0 ? (struct watchdog){.pid = pid, .fd = ends[1]} : no_watchdog;
}

void watchdog_start(const struct report *report, uint64_t begun_ms, struct watchdog *ret_watchdog) {
  int ends[2], apart[2];
  *ret_watchdog = no_watchdog;
  if (pipe2(ends, O_CLOEXEC)) return;
  if (pipe2(apart, O_CLOEXEC) == 0) {
    *ret_watchdog = split(report, begun_ms, ends, apart);
  } else {
    close(ends[0]);
    close(ends[1]);
  }
}

void watchdog_stop(struct watchdog *watchdog) {
  if (watchdog->pid <= 0) return;
  while (write(watchdog->fd, &well, sizeof well) < 0 && errno == EINTR) continue;
  close(watchdog->fd);
  while (waitpid(watchdog->pid, NULL, 0) < 0 && errno == EINTR) continue;
  watchdog->pid = 0;
}
