/* SPDX-License-Identifier: MIT
 *
 * host/commits.c: kills the process inside a commit, by counting calls of pwrite and fdatasync.
 * Both are exported, so that libraries that are loaded later use them.
 */
#include "host/commits.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint_fast64_t counted;
static atomic_uint_fast64_t fatal;
static atomic_bool unsynced;

/* The call that counted the current commit. A store with one flush a commit writes its head and
 * then flushes; a store with two flushes its pages first. */
enum { BY_NONE, BY_HEAD, BY_FLUSH };
static atomic_int counted_by;

static void count_commit(void) {
  if (atomic_fetch_add(&counted, 1) + 1 == atomic_load(&fatal)) kill(getpid(), SIGKILL);
}

void commits_arm(uint64_t n) {
  atomic_store(&counted_by, BY_NONE);
  atomic_store(&counted, 0);
  atomic_store(&fatal, n);
}

uint64_t commits_disarm(void) {
  atomic_store(&fatal, 0);
  return atomic_load(&counted);
}

void commits_skip_sync(void) { atomic_store(&unsynced, true); }

/* tidings-postgres.so commits with a statement of this name. In a message that executes the
 * statement, the name follows a NUL (the portal's empty name); in one that prepares it, it follows
 * a length. */
static const char commit_statement[] = "\0tidings_commit";

__attribute__((visibility("default"))) ssize_t send(int fd, const void *bytes, size_t len,
                                                    int flags) {
  if (memmem(bytes, len, commit_statement, sizeof commit_statement - 1)) count_commit();
  return syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
}

/* The first two pages of a store's file are its heads. */
static bool is_head(int fd, off_t at) {
  enum { HEADS_BYTES = 2 * 4096 };
  static const char name[] = "/data.mdb";
  char link[64], path[PATH_MAX];
  if (at >= HEADS_BYTES) return false;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t len = readlink(link, path, sizeof path);
  size_t end = sizeof name - 1;
  return len > (ssize_t)end && memcmp(path + len - end, name, end) == 0;
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *bytes, size_t len,
                                                      off_t at) {
  if (is_head(fd, at)) {
    int none = BY_NONE;
    if (atomic_compare_exchange_strong(&counted_by, &none, BY_HEAD)) count_commit();
    else if (none == BY_FLUSH) atomic_store(&counted_by, BY_NONE);
  }
  return syscall(SYS_pwrite64, fd, bytes, len, at);
}

__attribute__((visibility("default"))) int fdatasync(int fd) {
  if (atomic_load(&counted_by) == BY_HEAD) atomic_store(&counted_by, BY_NONE);
  else {
    atomic_store(&counted_by, BY_FLUSH);
    count_commit();
  }
  if (atomic_load(&unsynced)) return 0;
  return (int)syscall(SYS_fdatasync, fd);
}
