/* SPDX-License-Identifier: MIT
 *
 * tests/cli/fake_alarm.c is preloaded into a program that waits. The wall clock is ahead by the
 * milliseconds in the file FAKE_AHEAD, which may change at any time. The kernel's alarm of that
 * clock is the FIFO FAKE_ALARM: a test that "sets the clock" or "resumes the machine" writes into
 * it, as the kernel would make the descriptor readable. Each setting is a line in FAKE_ALARM.log.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int64_t ahead_ms(void) {
  const char *path = getenv("FAKE_AHEAD");
  char text[32] = "";
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return 0;
  ssize_t len = read(fd, text, sizeof text - 1);
  close(fd);
  return len > 0 ? strtoll(text, NULL, 10) : 0;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
  int kept = errno, code = real(clock, now);
  if (!code && clock == CLOCK_REALTIME) now->tv_sec += ahead_ms() / 1000;
  errno = kept;
  return code;
}

__attribute__((visibility("default"))) int timerfd_create(int clock, int flags) {
  const char *path = getenv("FAKE_ALARM");
  if (clock != CLOCK_REALTIME || !path || !(flags & TFD_CLOEXEC)) {
    errno = EINVAL;
    return -1;
  }
  return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

__attribute__((visibility("default"))) int timerfd_settime(int fd, int flags,
                                                           const struct itimerspec *value,
                                                           struct itimerspec *old) {
  char path[4096], line[128], bytes[64];
  (void)old;
  while (read(fd, bytes, sizeof bytes) > 0)
    continue; /* an alarm that is set again is not readable, as in the kernel */
  snprintf(path, sizeof path, "%s.log", getenv("FAKE_ALARM"));
  int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  int len = snprintf(line, sizeof line, "%lld %d %d\n", (long long)value->it_value.tv_sec,
                     (flags & TFD_TIMER_ABSTIME) != 0, (flags & TFD_TIMER_CANCEL_ON_SET) != 0);
  if (log >= 0 && write(log, line, (size_t)len) < 0) abort();
  if (log >= 0) close(log);
  return 0;
}
