/* SPDX-License-Identifier: MIT
 *
 * kit/clocklock.c: replaces pthread_mutex_clocklock by pthread_mutex_timedlock for the thread
 * sanitizer. That of gcc 12 does not notice that the former locks. It is linked into programs of
 * the tsan preset, and exported.
 */
#include <pthread.h>
#include <time.h>

__attribute__((visibility("default"), noinline)) int pthread_mutex_clocklock(
    pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
  struct timespec here, there;
  clock_gettime(clock, &here);
  clock_gettime(CLOCK_REALTIME, &there);
  there.tv_sec += until->tv_sec - here.tv_sec;
  there.tv_nsec += until->tv_nsec - here.tv_nsec;
  for (; there.tv_nsec < 0; there.tv_sec--) there.tv_nsec += 1000000000;
  for (; there.tv_nsec >= 1000000000; there.tv_sec++) there.tv_nsec -= 1000000000;
  return pthread_mutex_timedlock(mutex, &there);
}
