/* SPDX-License-Identifier: MIT
 *
 * tests/cli/kill_at.c: is preloaded into a program, and kills it by SIGKILL just before its
 * KILL_AT-th call whose effect another process can see: opening, writing, flushing, truncating,
 * renaming, removing or closing a file. So a test can make each step the last one.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

static void step(void) {
  static atomic_long count;
  const char *at = getenv("KILL_AT");
  if (at && atomic_fetch_add(&count, 1) + 1 == strtol(at, NULL, 10)) (void)kill(getpid(), SIGKILL);
}

static void *next_of(const char *name) { return dlsym(RTLD_NEXT, name); }

#define CALL_NEXT(type, name, parameters, arguments)                                               \
  SEEN type name parameters {                                                                      \
    __typeof__(name) *real;                                                                        \
    *(void **)&real = next_of(#name);                                                              \
    step();                                                                                        \
    return real arguments;                                                                         \
  }

CALL_NEXT(ssize_t, write, (int fd, const void *bytes, size_t len), (fd, bytes, len))
CALL_NEXT(ssize_t, pwrite, (int fd, const void *bytes, size_t len, off_t at), (fd, bytes, len, at))
CALL_NEXT(ssize_t, pwrite64, (int fd, const void *bytes, size_t len, off64_t at),
          (fd, bytes, len, at))
CALL_NEXT(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at),
          (fd, parts, count, at))
CALL_NEXT(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at),
          (fd, parts, count, at))
CALL_NEXT(int, fdatasync, (int fd), (fd))
CALL_NEXT(int, fsync, (int fd), (fd))
CALL_NEXT(int, ftruncate, (int fd, off_t len), (fd, len))
CALL_NEXT(int, rename, (const char *from, const char *to), (from, to))
CALL_NEXT(int, unlink, (const char *path), (path))
CALL_NEXT(int, close, (int fd), (fd))
