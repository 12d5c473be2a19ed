/* SPDX-License-Identifier: MIT
 *
 * Death inside a commit: an fdatasync that counts, exported so that shared libraries loaded later
 * use it.
 */
#include "commits.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
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

__attribute__((visibility("default"))) int fdatasync(int fd) {
  if (atomic_fetch_add(&counted, 1) + 1 == atomic_load(&fatal)) kill(getpid(), SIGKILL);
  if (atomic_load(&unsynced)) return 0;
  return (int)syscall(SYS_fdatasync, fd);
}
