/* SPDX-License-Identifier: MIT
 *
 * A process that preloads this sees a wall clock that is wrong by $TIDINGS_TEST_CLOCK_OFF seconds,
 * and a machine that has run longer: by an hour for each byte of the file $TIDINGS_TEST_HOURS.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t off_by(void) {
  const char *seconds = getenv("TIDINGS_TEST_CLOCK_OFF");
  return seconds ? (time_t)strtol(seconds, NULL, 10) : 0;
}

static time_t hours_more(void) {
  const char *file = getenv("TIDINGS_TEST_HOURS");
  struct stat info;
  return file && !stat(file, &info) ? (time_t)info.st_size : 0;
}

int clock_gettime(clockid_t clock, struct timespec *ret_now) {
  int rc = (int)syscall(SYS_clock_gettime, clock, ret_now);
  if (!rc && clock == CLOCK_BOOTTIME) ret_now->tv_sec += hours_more() * 3600;
  if (!rc && clock == CLOCK_REALTIME) ret_now->tv_sec += off_by();
  return rc;
}

int gettimeofday(struct timeval *restrict ret_now, void *restrict zone) {
  struct timespec now;
  (void)zone;
  int rc = clock_gettime(CLOCK_REALTIME, &now);
  if (!rc) *ret_now = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return rc;
}

time_t time(time_t *ret_now) {
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  if (ret_now) *ret_now = now.tv_sec;
  return now.tv_sec;
}
