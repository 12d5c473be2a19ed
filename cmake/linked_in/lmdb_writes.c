/* SPDX-License-Identifier: MIT
 */
#include "lmdb_writes.h"

#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static _Atomic(const struct tidings_lmdb_watch *) watching;

void tidings_lmdb_set_watch(const struct tidings_lmdb_watch *watch) {
  atomic_store(&watching, watch);
}

/* The archive calls these; no other file does. */
ssize_t tidings_lmdb_pwrite(int fd, const void *data, size_t bytes, off_t at);
ssize_t tidings_lmdb_writev(int fd, const struct iovec *pieces, int count);
ssize_t tidings_lmdb_pwritev(int fd, const struct iovec *pieces, int count, off_t at);
int tidings_lmdb_fdatasync(int fd);

ssize_t tidings_lmdb_pwrite(int fd, const void *data, size_t bytes, off_t at) {
  const struct tidings_lmdb_watch *watch = atomic_load(&watching);
  return watch ? watch->pwrite(fd, data, bytes, at) : pwrite(fd, data, bytes, at);
}

ssize_t tidings_lmdb_writev(int fd, const struct iovec *pieces, int count) {
  const struct tidings_lmdb_watch *watch = atomic_load(&watching);
  return watch ? watch->writev(fd, pieces, count) : writev(fd, pieces, count);
}

ssize_t tidings_lmdb_pwritev(int fd, const struct iovec *pieces, int count, off_t at) {
  const struct tidings_lmdb_watch *watch = atomic_load(&watching);
  return watch ? watch->pwritev(fd, pieces, count, at) : pwritev(fd, pieces, count, at);
}

int tidings_lmdb_fdatasync(int fd) {
  const struct tidings_lmdb_watch *watch = atomic_load(&watching);
  return watch ? watch->fdatasync(fd) : fdatasync(fd);
}
