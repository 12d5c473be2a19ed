/* SPDX-License-Identifier: MIT
 *
 * Death inside a commit: an fdatasync that counts, exported so that shared libraries loaded later
 * use it.
 */
#include "host/commits.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint_fast64_t counted;
static atomic_uint_fast64_t fatal;
static atomic_bool unsynced;

void commits_arm(uint64_t n) {
  atomic_store(&counted, 0);
  atomic_store(&fatal, n);
}

uint64_t commits_disarm(void) {
  atomic_store(&fatal, 0);
  return atomic_load(&counted);
}

void commits_skip_sync(void) { atomic_store(&unsynced, true); }

/* A plugin whose store is a database commits with a statement of this name (tidings-postgres.so).
 * Where it is used there is a NUL before it, the name of its portal; where it is prepared, a
 * length.
 */
static const char commit_statement[] = "\0tidings_commit";

__attribute__((visibility("default"))) ssize_t send(int fd, const void *bytes, size_t len,
                                                    int flags) {
  if (memmem(bytes, len, commit_statement, sizeof commit_statement - 1)) {
    if (atomic_fetch_add(&counted, 1) + 1 == atomic_load(&fatal)) kill(getpid(), SIGKILL);
  }
  return syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
}

__attribute__((visibility("default"))) int fdatasync(int fd) {
  if (atomic_fetch_add(&counted, 1) + 1 == atomic_load(&fatal)) kill(getpid(), SIGKILL);
  if (atomic_load(&unsynced)) return 0;
  return (int)syscall(SYS_fdatasync, fd);
}
