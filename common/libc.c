/* SPDX-License-Identifier: MIT
 *
 * common/libc.c: has the functions that the plugin needs too. libc_spawn.c has the spawning,
 * because the plugin starts no processes.
 */
#include "common/libc.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

enum { KIND_GLIBC = 0, KIND_MUSL = 1, KIND_SHIFT = 16 }; /* written to files: they never change */

static struct timespec time_of(uint64_t ns) {
  return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                           .tv_nsec = (long)(ns % 1000000000u)};
}

#ifdef __GLIBC__
enum { KIND_OURS = KIND_GLIBC };

int libc_lock_until(pthread_mutex_t *mutex, uint64_t until_ns) {
  const struct timespec until = time_of(until_ns);
  return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until);
}
#else
enum { KIND_OURS = KIND_MUSL, SLICE_NS = 10000000 };

static uint64_t read_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* This C library can wait only by the wall clock. The wait is split into short ones, so that
 * setting the clock back does not make it long. */
int libc_lock_until(pthread_mutex_t *mutex, uint64_t until_ns) {
  for (;;) {
    uint64_t now = read_ns(CLOCK_MONOTONIC), left = until_ns > now ? until_ns - now : 0;
    uint64_t wall = read_ns(CLOCK_REALTIME) + (left < SLICE_NS ? left : SLICE_NS);
    const struct timespec until = time_of(wall);
    int err = pthread_mutex_timedlock(mutex, &until);
    if (err != ETIMEDOUT || left < SLICE_NS) return err;
  }
}
#endif

uint32_t libc_mutex_kind(void) {
  return (uint32_t)sizeof(pthread_mutex_t) | (uint32_t)KIND_OURS << KIND_SHIFT;
}

const char *libc_of_mutex_kind(uint32_t kind) {
  switch (kind >> KIND_SHIFT) {
  case KIND_GLIBC: return "glibc";
  case KIND_MUSL: return "musl";
  default: return "another C library";
  }
}

int libc_thread_create(pthread_t *ret_thread, void *(*run)(void *), void *context) {
  sigset_t all, before;
  (void)sigfillset(&all);
  int err = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (err) return err;
  err = pthread_create(ret_thread, NULL, run, context);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return err;
}
