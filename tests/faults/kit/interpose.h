/* SPDX-License-Identifier: MIT
 *
 * kit/interpose.h: watches every call that changes a store's files, and can refuse it. interpose.c
 * defines and exports the C library's functions, so that calls of the plugin and of liblmdb come
 * here first, and calls the kernel directly.
 */
#ifndef KIT_INTERPOSE_H
#define KIT_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

enum io_kind {
  IO_PWRITE,
  IO_WRITE,
  IO_WRITEV, /* also pwritev, which has an offset */
  IO_FDATASYNC,
  IO_FSYNC,
  IO_FTRUNCATE,
  IO_FALLOCATE,
  IO_POSIX_FALLOCATE,
  IO_RENAME,
  IO_OPEN,
  IO_MKDIR,
  IO_UNLINK,
  IO_CLOSE,
  IO_MMAP,
  IO_MUNMAP,
  IO_MSYNC,
  IO_PREAD, /* seen only by a watch that asks for it */
  IO_KINDS
};

extern const char *const io_kind_names[IO_KINDS];

struct io_op {
  enum io_kind kind;
  int fd; /* OPEN: the folder of a relative path (`result` has the new descriptor); RENAME: the old
             folder */
  int other_fd;           /* RENAME: the new folder */
  const char *path;       /* OPEN, MKDIR, UNLINK, RENAME (old) */
  const char *other_path; /* RENAME (new) */
  const void *data;       /* PWRITE, WRITE */
  void *buffer;           /* PREAD */
  const struct iovec *vector;
  int vector_count;
  void *address; /* MUNMAP, MSYNC; MMAP: the wanted address (`result` has the actual one) */
  size_t length; /* bytes of writes, maps, FTRUNCATE and FALLOCATE */
  /* PWRITE, PREAD, FALLOCATE, MMAP; WRITE and WRITEV: -1, at the descriptor's own position */
  off_t offset;
  int flags;      /* OPEN: flags; FALLOCATE: mode; UNLINK: flags; MMAP: flags */
  int protection; /* MMAP */
  unsigned mode;  /* OPEN, MKDIR */
  off_t position; /* for the watch; not used here */
  long result;    /* after: what the call returned, -1 on failure */
  int error;      /* after: errno; in a refusal: the errno to give */
};

struct io_watch {
  /* Called before the call. True: the call is made (with op->length, which may have been reduced);
   * false: it fails with op->error. */
  bool (*before)(struct io_op *op);
  /* Called after a call that was made or refused. May be NULL. */
  void (*after)(const struct io_op *op);
  bool reads; /* also watches PREAD */
};

/* Begins to watch; NULL: stops watching. The watch must stay valid. */
void io_watch(const struct io_watch *watch);

#endif
