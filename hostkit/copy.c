/* SPDX-License-Identifier: MIT
 */
#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/folder.h"
#include "common/store_url.h"
#include "errors.h"
#include "text.h"

/* The loader remembers the names of images that stay mapped, so a process must not use a name
 * twice, even if mkdtemp repeats it. */
static char *make_directory_in(const char *parent) {
  static atomic_uint copies;
  char prefix[64];
  snprintf(prefix, sizeof prefix, "tidings-%ld-%u", (long)getpid(),
           atomic_fetch_add(&copies, 1) + 1);
  return folder_make_temporary(parent, prefix);
}

/* On a file system that is mounted noexec, the copy can be written but not loaded. Sets errno when
 * the answer is no. */
static bool may_hold_code(const char *parent, uint64_t bytes) {
  struct statvfs status;
  if (statvfs(parent, &status)) return false;
  errno = EACCES;
  if (status.f_flag & ST_NOEXEC) return false;
  errno = ENOSPC;
  return !status.f_blocks || (uint64_t)status.f_bavail * status.f_frsize >= bytes;
}

/* How much room the copy and the store of its probe need; a guess. */
static uint64_t room_for(int plugin) {
  enum { STORE_BYTES = 2 << 20 };
  struct stat status;
  return fstat(plugin, &status) ? STORE_BYTES : (uint64_t)status.st_size + STORE_BYTES;
}

/* Takes the first place that may hold code and has room, else the first that may hold code. */
static int32_t make_directory(const char *parent, int plugin, char **ret_directory,
                              struct tidings_error *error) {
  const char *candidates[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
  size_t count = sizeof candidates / sizeof candidates[0];
  if (parent) {
    candidates[0] = parent;
    count = 1;
  }
  int reason = ENOENT;
  const char *last = "/tmp";
  uint64_t room = room_for(plugin);
  for (size_t i = 0; i < 2 * count; i++) {
    const char *candidate = candidates[i % count];
    if (!candidate || candidate[0] != '/') continue;
    last = candidate;
    bool usable = may_hold_code(candidate, i < count ? room : 0);
    char *directory = usable ? make_directory_in(candidate) : NULL;
    if (directory) {
      *ret_directory = directory;
      return TIDINGS_OK;
    }
    reason = errno;
    if (reason == ENOMEM)
      return hk_error(error, TIDINGS_E_NOMEM, "out of memory while copying the plugin");
  }
  return hk_error(
      error, TIDINGS_E_STORE,
      "cannot make a folder for the plugin's private copy in %s: %s; set copy_dir to one that is "
      "writable and not mounted noexec",
      last, strerror(reason));
}

/* Copies the bytes from `offset` on. Returns 0 or an errno. */
static int copy_rest(int from, int to, off_t offset) {
  char buffer[65536];
  for (;;) {
    ssize_t got = pread(from, buffer, sizeof buffer, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : 0;
    offset += got;
    for (ssize_t done = 0; done < got;) {
      ssize_t put = write(to, buffer + done, (size_t)(got - done));
      if (put < 0 && errno != EINTR) return errno;
      done += put < 0 ? 0 : put;
    }
  }
}

/* Copies from the beginning of `from`, whatever its offset. Lets the kernel copy where it can,
 * because an agent's hook has little time. Returns 0 or an errno. */
static int copy_bytes(int from, int to) {
  enum { AT_ONCE = 1 << 30 };
  off_t offset = 0;
  ssize_t copied;
  do copied = sendfile(to, from, &offset, AT_ONCE);
  while (copied > 0);
  return copied < 0 || !offset ? copy_rest(from, to, offset) : 0;
}

/* Returns the copy's descriptor, reopened so that no stray write can reach the code that will be
 * mapped from it; or -1 and errno. */
static int write_copy(int from, const char *path) {
  int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0500);
  if (to < 0) return -1;
  int failed = copy_bytes(from, to);
  if (close(to) && !failed) failed = errno;
  if (failed) {
    errno = failed;
    return -1;
  }
  return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

/* Returns a descriptor of sealed memory with the bytes of `from`; code can be mapped from it. -1:
 * this is not possible. */
static int write_memory(int from) {
  enum { MAY_BE_RUN = 0x10 /* MFD_EXEC of newer kernels; older ones refuse it */ };
  int fd = memfd_create("tidings.so", MFD_CLOEXEC | MFD_ALLOW_SEALING | MAY_BE_RUN);
  if (fd < 0 && errno == EINVAL) fd = memfd_create("tidings.so", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  bool whole = !copy_bytes(from, fd) &&
               !fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  void *code = whole ? mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  if (code != MAP_FAILED) {
    munmap(code, 1);
    return fd;
  }
  close(fd);
  return -1;
}

/* Makes a path that no other copy of this process has had: if an image of the same path is still
 * mapped, the loader takes that image and does not read the file. Descriptors' numbers repeat, so
 * the path also spells the bits of a counter as "/." and "/", which change nothing in a path. */
static char *new_path_of(int fd) {
  static atomic_uint copies;
  char bits[2 * sizeof(unsigned) * CHAR_BIT + 1] = "", *end = bits;
  for (unsigned count = atomic_fetch_add(&copies, 1); count; count /= 2) {
    *end++ = '/';
    if (count % 2) *end++ = '.';
  }
  return hk_format("/proc/self/fd%s/%d", bits, fd);
}

/* False: the system has no such memory. */
static bool copy_to_memory(int from, struct hk_copy *ret_copy) {
  struct hk_copy copy = {.fd = write_memory(from)};
  if (copy.fd < 0) return false;
  copy.path = new_path_of(copy.fd);
  if (copy.path && !access(copy.path, R_OK)) {
    *ret_copy = copy;
    return true;
  }
  hk_copy_drop(&copy);
  return false;
}

static int32_t copy_from(int from, const char *base_name, const char *parent,
                         struct hk_copy *ret_copy, struct tidings_error *error) {
  struct hk_copy copy = HK_COPY_NONE;
  int32_t code = make_directory(parent, from, &copy.directory, error);
  if (code) return code;
  copy.path = hk_format("%s/%s", copy.directory, base_name);
  if (!copy.path) {
    code = hk_error(error, TIDINGS_E_NOMEM, "out of memory while copying the plugin");
    goto out;
  }
  copy.fd = write_copy(from, copy.path);
  if (copy.fd < 0)
    code = hk_error(error, TIDINGS_E_STORE, "cannot write the plugin's private copy %s: %s",
                    copy.path, strerror(errno));
out:
  if (code) hk_copy_drop(&copy);
  else *ret_copy = copy;
  return code;
}

static const char *base_name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

static int32_t copy_source(const char *source, const char *parent, bool in_memory,
                           struct hk_copy *ret_copy, struct tidings_error *error) {
  int32_t code = TIDINGS_OK;
  int fd = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
                            O_NOCTTY); /* non-blocking: the path may name a FIFO */
  if (fd < 0) {
    code = errno == ENOENT || errno == ENOTDIR ? TIDINGS_E_NOT_FOUND : TIDINGS_E_STORE;
    return hk_error(
        error, code, "cannot open the plugin %s: %s%s", source, strerror(errno),
        errno == ENOENT && store_url_is_plugin(source)
            ? "; a store in a database needs it (the package tidings-postgres of Debian)"
            : "");
  }
  struct stat status;
  if (fstat(fd, &status))
    code =
        hk_error(error, TIDINGS_E_STORE, "cannot read the plugin %s: %s", source, strerror(errno));
  else if (!S_ISREG(status.st_mode))
    code = hk_error(error, TIDINGS_E_INVAL, "the plugin %s is not a regular file", source);
  else if (!in_memory || !copy_to_memory(fd, ret_copy))
    code = copy_from(fd, base_name_of(source), parent, ret_copy, error);
  close(fd);
  return code;
}

int32_t hk_copy_make(const char *source, const char *parent, struct hk_copy *ret_copy,
                     struct tidings_error *error) {
  return copy_source(source, parent, false, ret_copy, error);
}

int32_t hk_copy_make_in_memory(const char *source, const char *parent, struct hk_copy *ret_copy,
                               struct tidings_error *error) {
  return copy_source(source, parent, true, ret_copy, error);
}

int32_t hk_copy_again(const struct hk_copy *copy, const char *parent, struct hk_copy *ret_copy,
                      struct tidings_error *error) {
  if (!copy->directory && copy_to_memory(copy->fd, ret_copy)) return TIDINGS_OK;
  return copy_from(copy->fd, base_name_of(copy->path), parent, ret_copy, error);
}

void hk_copy_unlink(const struct hk_copy *copy) {
  if (copy->directory) (void)folder_remove_all(copy->directory);
}

void hk_copy_drop(struct hk_copy *copy) {
  hk_copy_unlink(copy);
  if (copy->fd >= 0) close(copy->fd);
  free(copy->path);
  free(copy->directory);
  *copy = HK_COPY_NONE;
}
