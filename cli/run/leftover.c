/* SPDX-License-Identifier: MIT
 */
#include "cli/run/leftover.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "common/libc.h"

enum { STREAMS = 2 };

static void close_all_but(const int *kept, size_t count) {
  unsigned first = STDERR_FILENO + 1;
  for (;;) {
    unsigned next = ~0u;
    for (size_t i = 0; i < count; i++) {
      if (kept[i] >= (int)first && (unsigned)kept[i] < next) next = (unsigned)kept[i];
    }
    if (next > first) libc_close_range(first, next == ~0u ? next : next - 1);
    if (next == ~0u) return;
    first = next + 1;
  }
}

/* Leaves the caller's output, whose readers must see its end, and its terminal, whose end must not
 * end this process. */
static void leave_caller(void) {
  static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT};
  sigset_t none;
  sigemptyset(&none);
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) (void)signal(ignored[i], SIG_IGN);
  (void)setsid();
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = STDIN_FILENO; nothing >= 0 && standard <= STDERR_FILENO; standard++)
    (void)dup2(nothing, standard);
}

/* Returns false at the end of the output. */
static bool read_some(struct run_log *log, int fd) {
  static char bytes[65536];
  ssize_t got = read(fd, bytes, sizeof bytes);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got > 0) run_log_write(log, bytes, (size_t)got);
  return got > 0;
}

_Noreturn static void read_on(struct run_log log, int out, int err) {
  struct pollfd streams[STREAMS] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
  leave_caller();
  log.fd = open(log.path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW); /* without its lock */
  if (log.fd < 0) log.failed = errno;
  close_all_but((const int[]){out, err, log.fd}, 3);
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (poll(streams, STREAMS, -1) <= 0) continue;
    for (size_t i = 0; i < STREAMS; i++) {
      if (streams[i].fd < 0 || !streams[i].revents || read_some(&log, streams[i].fd)) continue;
      close(streams[i].fd);
      streams[i].fd = -1;
    }
  }
  _exit(0);
}

void leftover_read(const struct run_log *log, int out, int err) {
  if ((out >= 0 || err >= 0) && fork() == 0) read_on(*log, out, err);
}
