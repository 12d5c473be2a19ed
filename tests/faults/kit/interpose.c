/* SPDX-License-Identifier: MIT
 *
 * kit/interpose.c: is linked only into tests that need it, and exports these names (see
 * CMakeLists.txt).
 */
#include "kit/interpose.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default"), noinline))

const char *const io_kind_names[IO_KINDS] = {
    "pwrite",          "write",  "writev", "fdatasync", "fsync",  "ftruncate", "fallocate",
    "posix_fallocate", "rename", "open",   "mkdir",     "unlink", "close",     "mmap",
    "munmap",          "msync",  "pread"};

static _Atomic(const struct io_watch *) watching;

void io_watch(const struct io_watch *watch) { atomic_store(&watching, watch); }

static long call_kernel(const struct io_op *op);

/* Makes all calls. Like the C library's functions, returns -1 and sets errno on failure. */
static long dispatch(struct io_op *op) {
  const struct io_watch *watch = atomic_load(&watching);
  if (!watch) return call_kernel(op);
  if (!watch->before(op)) {
    op->result = -1;
  } else {
    op->result = call_kernel(op);
    op->error = op->result == -1 ? errno : 0;
  }
  if (watch->after) watch->after(op);
  if (op->result == -1) errno = op->error;
  return op->result;
}

static size_t vector_length(const struct iovec *vector, int count) {
  size_t length = 0;
  for (int i = 0; i < count; i++) length += vector[i].iov_len;
  return length;
}

static long write_vector(const struct io_op *op) {
  struct iovec cut[IOV_MAX];
  int count = 0;
  size_t left = op->length;
  for (; count < op->vector_count && count < IOV_MAX && left > 0; count++) {
    cut[count] = op->vector[count];
    if (cut[count].iov_len > left) cut[count].iov_len = left;
    left -= cut[count].iov_len;
  }
  if (op->offset < 0) return syscall(SYS_writev, op->fd, cut, count);
  return syscall(SYS_pwritev, op->fd, cut, count, op->offset, 0);
}

static long call_kernel(const struct io_op *op) {
  switch (op->kind) {
  case IO_PWRITE: return syscall(SYS_pwrite64, op->fd, op->data, op->length, op->offset);
  case IO_WRITE: return syscall(SYS_write, op->fd, op->data, op->length);
  case IO_WRITEV: return write_vector(op);
  case IO_FDATASYNC: return syscall(SYS_fdatasync, op->fd);
  case IO_FSYNC: return syscall(SYS_fsync, op->fd);
  case IO_FTRUNCATE: return syscall(SYS_ftruncate, op->fd, op->length);
  case IO_FALLOCATE:
  case IO_POSIX_FALLOCATE: return syscall(SYS_fallocate, op->fd, op->flags, op->offset, op->length);
  case IO_RENAME:
    return syscall(SYS_renameat2, op->fd, op->path, op->other_fd, op->other_path, op->flags);
  case IO_OPEN: return syscall(SYS_openat, op->fd, op->path, op->flags, op->mode);
  case IO_MKDIR: return syscall(SYS_mkdirat, op->fd, op->path, op->mode);
  case IO_UNLINK: return syscall(SYS_unlinkat, op->fd, op->path, op->flags);
  case IO_CLOSE: return syscall(SYS_close, op->fd);
  case IO_MMAP:
    return syscall(SYS_mmap, op->address, op->length, op->protection, op->flags, op->fd,
                   op->offset);
  case IO_MUNMAP: return syscall(SYS_munmap, op->address, op->length);
  case IO_MSYNC: return syscall(SYS_msync, op->address, op->length, op->flags);
  case IO_PREAD: return syscall(SYS_pread64, op->fd, op->buffer, op->length, op->offset);
  case IO_KINDS: break;
  }
  errno = ENOSYS;
  return -1;
}

/* -- the C library's names --------------------------------------------------------------------- */

EXPORTED ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  struct io_op op = {.kind = IO_PWRITE, .fd = fd, .data = data, .length = length, .offset = offset};
  return dispatch(&op);
}
EXPORTED ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  return pwrite(fd, data, length, offset);
}

EXPORTED ssize_t pread(int fd, void *buffer, size_t length, off_t offset) {
  struct io_op op = {
      .kind = IO_PREAD, .fd = fd, .buffer = buffer, .length = length, .offset = offset};
  const struct io_watch *watch = atomic_load_explicit(&watching, memory_order_relaxed);
  return watch && watch->reads ? dispatch(&op) : call_kernel(&op);
}
EXPORTED ssize_t pread64(int fd, void *buffer, size_t length, off64_t offset) {
  return pread(fd, buffer, length, offset);
}

EXPORTED ssize_t write(int fd, const void *data, size_t length) {
  struct io_op op = {.kind = IO_WRITE, .fd = fd, .data = data, .length = length, .offset = -1};
  return dispatch(&op);
}

EXPORTED ssize_t writev(int fd, const struct iovec *vector, int count) {
  struct io_op op = {.kind = IO_WRITEV,
                     .fd = fd,
                     .vector = vector,
                     .vector_count = count,
                     .length = vector_length(vector, count),
                     .offset = -1};
  return dispatch(&op);
}

EXPORTED ssize_t pwritev(int fd, const struct iovec *vector, int count, off_t offset) {
  struct io_op op = {.kind = IO_WRITEV,
                     .fd = fd,
                     .vector = vector,
                     .vector_count = count,
                     .length = vector_length(vector, count),
                     .offset = offset};
  return dispatch(&op);
}
EXPORTED ssize_t pwritev64(int fd, const struct iovec *vector, int count, off64_t offset) {
  return pwritev(fd, vector, count, offset);
}

EXPORTED int fdatasync(int fd) {
  struct io_op op = {.kind = IO_FDATASYNC, .fd = fd};
  return (int)dispatch(&op);
}

EXPORTED int fsync(int fd) {
  struct io_op op = {.kind = IO_FSYNC, .fd = fd};
  return (int)dispatch(&op);
}

EXPORTED int ftruncate(int fd, off_t length) {
  struct io_op op = {.kind = IO_FTRUNCATE, .fd = fd, .length = (size_t)length};
  return (int)dispatch(&op);
}
EXPORTED int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

EXPORTED int fallocate(int fd, int mode, off_t offset, off_t length) {
  struct io_op op = {
      .kind = IO_FALLOCATE, .fd = fd, .flags = mode, .offset = offset, .length = (size_t)length};
  return (int)dispatch(&op);
}
EXPORTED int fallocate64(int fd, int mode, off64_t offset, off64_t length) {
  return fallocate(fd, mode, offset, length);
}

/* This function returns the error, unlike the others. */
EXPORTED int posix_fallocate(int fd, off_t offset, off_t length) {
  struct io_op op = {
      .kind = IO_POSIX_FALLOCATE, .fd = fd, .offset = offset, .length = (size_t)length};
  int saved = errno;
  int error = dispatch(&op) == 0 ? 0 : op.error ? op.error : errno;
  errno = saved;
  return error;
}
EXPORTED int posix_fallocate64(int fd, off64_t offset, off64_t length) {
  return posix_fallocate(fd, offset, length);
}

EXPORTED int renameat2(int old_fd, const char *old_path, int new_fd, const char *new_path,
                       unsigned flags) {
  struct io_op op = {.kind = IO_RENAME,
                     .fd = old_fd,
                     .path = old_path,
                     .other_fd = new_fd,
                     .other_path = new_path,
                     .flags = (int)flags};
  return (int)dispatch(&op);
}
EXPORTED int renameat(int old_fd, const char *old_path, int new_fd, const char *new_path) {
  return renameat2(old_fd, old_path, new_fd, new_path, 0);
}
EXPORTED int rename(const char *old_path, const char *new_path) {
  return renameat2(AT_FDCWD, old_path, AT_FDCWD, new_path, 0);
}

static int open_file(int folder, const char *path, int flags, unsigned mode) {
  struct io_op op = {.kind = IO_OPEN, .fd = folder, .path = path, .flags = flags, .mode = mode};
  return (int)dispatch(&op);
}

/* Only calls whose flags may create a file have the argument `mode`. */
#define MODE_OF(flags)                                                                             \
  unsigned mode = 0;                                                                               \
  if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) {                                \
    va_list list;                                                                                  \
    va_start(list, flags);                                                                         \
    mode = va_arg(list, unsigned);                                                                 \
    va_end(list);                                                                                  \
  }

EXPORTED int open(const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_file(AT_FDCWD, path, flags, mode);
}
EXPORTED int open64(const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_file(AT_FDCWD, path, flags, mode);
}
EXPORTED int openat(int folder, const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_file(folder, path, flags, mode);
}
EXPORTED int openat64(int folder, const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_file(folder, path, flags, mode);
}

EXPORTED int mkdirat(int folder, const char *path, mode_t mode) {
  struct io_op op = {.kind = IO_MKDIR, .fd = folder, .path = path, .mode = mode};
  return (int)dispatch(&op);
}
EXPORTED int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

EXPORTED int unlinkat(int folder, const char *path, int flags) {
  struct io_op op = {.kind = IO_UNLINK, .fd = folder, .path = path, .flags = flags};
  return (int)dispatch(&op);
}
EXPORTED int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
EXPORTED int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

EXPORTED int close(int fd) {
  struct io_op op = {.kind = IO_CLOSE, .fd = fd};
  return (int)dispatch(&op);
}

EXPORTED void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  if (!atomic_load_explicit(&watching, memory_order_relaxed))
    return (void *)(intptr_t)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
  struct io_op op = {.kind = IO_MMAP,
                     .address = address,
                     .length = length,
                     .protection = protection,
                     .flags = flags,
                     .fd = fd,
                     .offset = offset};
  return (void *)(intptr_t)dispatch(&op);
}
EXPORTED void *mmap64(void *address, size_t length, int protection, int flags, int fd,
                      off64_t offset) {
  return mmap(address, length, protection, flags, fd, offset);
}

EXPORTED int munmap(void *address, size_t length) {
  if (!atomic_load_explicit(&watching, memory_order_relaxed))
    return (int)syscall(SYS_munmap, address, length);
  struct io_op op = {.kind = IO_MUNMAP, .address = address, .length = length};
  return (int)dispatch(&op);
}

EXPORTED int msync(void *address, size_t length, int flags) {
  struct io_op op = {.kind = IO_MSYNC, .address = address, .length = length, .flags = flags};
  return (int)dispatch(&op);
}
