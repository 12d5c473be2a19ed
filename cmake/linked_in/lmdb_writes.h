/* SPDX-License-Identifier: MIT
 *
 * lmdb_writes.h: the calls by which a linked-in LMDB writes its file. cmake/dependencies.cmake has
 * the archive call the functions in lmdb_writes.c in place of the C library's.
 */
#ifndef LINKED_IN_LMDB_WRITES_H
#define LINKED_IN_LMDB_WRITES_H

#include <sys/types.h>
#include <sys/uio.h>

struct tidings_lmdb_watch {
  ssize_t (*pwrite)(int fd, const void *data, size_t bytes, off_t at);
  ssize_t (*writev)(int fd, const struct iovec *pieces, int count);
  ssize_t (*pwritev)(int fd, const struct iovec *pieces, int count, off_t at);
  int (*fdatasync)(int fd);
};

/* Each function stands for the call of its name. NULL: nobody watches. The watch is constant for as
 * long as the image is loaded. */
void tidings_lmdb_set_watch(const struct tidings_lmdb_watch *watch);

#endif
