/* SPDX-License-Identifier: MIT
 *
 * tests/cli/kill_at.c: is preloaded into a program, and kills it by SIGKILL just before the
 * KILL_AT-th call whose effect another process can see: opening, writing, flushing, truncating,
 * renaming, removing or closing a file. So a test can make each step the last one. With FAIL_AT,
 * the FAIL_AT-th call to write or flush data.mdb fails.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

static void step(void) {
  static atomic_long count;
  const char *at = getenv("KILL_AT");
  if (at && atomic_fetch_add(&count, 1) + 1 == strtol(at, NULL, 10)) (void)kill(getpid(), SIGKILL);
}

static bool fails(int fd) {
  static atomic_long count;
  const char *at = getenv("FAIL_AT"), *name;
  char link[64], path[4096];
  if (!at) return false;
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t len = readlink(link, path, sizeof path - 1);
  path[len > 0 ? len : 0] = '\0';
  name = strrchr(path, '/');
  errno = EIO;
  return name && strcmp(name, "/data.mdb") == 0 &&
         atomic_fetch_add(&count, 1) + 1 == strtol(at, NULL, 10);
}

static void *next_of(const char *name) { return dlsym(RTLD_NEXT, name); }

#define CALL_ON_FD(type, name, parameters, arguments)                                              \
  SEEN type name parameters {                                                                      \
    __typeof__(name) *real;                                                                        \
    *(void **)&real = next_of(#name);                                                              \
    step();                                                                                        \
    return fails(fd) ? -1 : real arguments;                                                        \
  }

#define CALL_NEXT(type, name, parameters, arguments)                                               \
  SEEN type name parameters {                                                                      \
    __typeof__(name) *real;                                                                        \
    *(void **)&real = next_of(#name);                                                              \
    step();                                                                                        \
    return real arguments;                                                                         \
  }

CALL_ON_FD(ssize_t, write, (int fd, const void *bytes, size_t len), (fd, bytes, len))
CALL_ON_FD(ssize_t, pwrite, (int fd, const void *bytes, size_t len, off_t at), (fd, bytes, len, at))
CALL_ON_FD(ssize_t, pwrite64, (int fd, const void *bytes, size_t len, off64_t at),
           (fd, bytes, len, at))
CALL_ON_FD(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at),
           (fd, parts, count, at))
CALL_ON_FD(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at),
           (fd, parts, count, at))
CALL_ON_FD(int, fdatasync, (int fd), (fd))
CALL_ON_FD(int, fsync, (int fd), (fd))
CALL_NEXT(int, ftruncate, (int fd, off_t len), (fd, len))
CALL_NEXT(int, rename, (const char *from, const char *to), (from, to))
CALL_NEXT(int, unlink, (const char *path), (path))
CALL_NEXT(int, close, (int fd), (fd))
