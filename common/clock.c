/* SPDX-License-Identifier: MIT
 */
#include "common/clock.h"

#include <sys/timerfd.h>
#include <time.h>

static uint64_t read_clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t clock_wall_ms(void) { return (int64_t)(read_clock_ns(CLOCK_REALTIME) / 1000000u); }
uint64_t clock_mono_ns(void) { return read_clock_ns(CLOCK_MONOTONIC); }
int64_t clock_mono_ms(void) { return (int64_t)(clock_mono_ns() / 1000000u); }

int clock_ms_until(int64_t mono_ms) {
  int64_t left = mono_ms - clock_mono_ms();
  if (left < 0) return 0;
  return left < INT32_MAX ? (int)left : INT32_MAX;
}

int clock_alarm_open(void) { return timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC); }

void clock_alarm_set(int alarm, int64_t wall_ms) {
  const struct itimerspec at = {
      .it_value = {.tv_sec = wall_ms / 1000, .tv_nsec = (long)(wall_ms % 1000) * 1000000}};
  if (alarm >= 0) timerfd_settime(alarm, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL);
}

void clock_sleep_ms(uint32_t ms) {
  const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
  nanosleep(&pause, NULL);
}

bool clock_day_exists(const struct tm *day) {
  struct tm date = {.tm_year = day->tm_year, .tm_mon = day->tm_mon, .tm_mday = day->tm_mday};
  return timegm(&date) != (time_t)-1 && date.tm_mday == day->tm_mday;
}
