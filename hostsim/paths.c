/* SPDX-License-Identifier: MIT
 *
 * Where things are: this program, the plugin beside it, temporary folders and small files.
 */
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

char *paths_join(const char *dir, const char *name) {
  char *path = NULL;
  if (asprintf(&path, "%s/%s", dir, name) < 0) return NULL;
  return path;
}

/* The folder that this program lies in; "." if /proc does not say. */
static void own_folder(char buffer[PATH_MAX]) {
  ssize_t len = readlink("/proc/self/exe", buffer, PATH_MAX - 1);
  if (len <= 0) {
    memcpy(buffer, ".", sizeof ".");
    return;
  }
  buffer[len] = '\0';
  char *slash = strrchr(buffer, '/');
  if (slash) *slash = '\0';
}

char *paths_default_plugin(void) {
  char folder[PATH_MAX];
  own_folder(folder);
  char *path = paths_join(folder, "tidings.so");
  if (!path || access(path, F_OK) == 0) return path;
  free(path);
  return paths_join(folder, HOSTSIM_INSTALLED_PLUGIN);
}

char *paths_make_temp(const char *prefix) {
  const char *base = getenv("TMPDIR");
  char *path = NULL;
  if (asprintf(&path, "%s/%s-XXXXXX", base && base[0] == '/' ? base : "/tmp", prefix) < 0)
    return NULL;
  if (!mkdtemp(path)) {
    int reason = errno;
    free(path);
    errno = reason;
    return NULL;
  }
  return path;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info;
  (void)kind;
  (void)where;
  return remove(path);
}

int paths_remove_tree(const char *dir) {
  return nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

int paths_copy_file(const char *from, const char *to) {
  int status = -1;
  int out = -1;
  int in = open(from, O_RDONLY | O_CLOEXEC);
  if (in < 0) return -1;
  struct stat info;
  if (fstat(in, &info) != 0) goto out;
  out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
             (info.st_mode & S_IXUSR) != 0 ? 0700 : 0600);
  if (out < 0) goto out;
  for (off_t left = info.st_size; left > 0;) {
    ssize_t sent = sendfile(out, in, NULL, (size_t)left);
    if (sent <= 0) {
      errno = sent == 0 ? EIO : errno;
      goto out;
    }
    left -= sent;
  }
  status = 0;
out:;
  int reason = errno;
  if (out >= 0 && close(out) != 0 && status == 0) {
    reason = errno;
    status = -1;
  }
  close(in);
  errno = reason;
  return status;
}

int paths_read_file(const char *path, char **ret_bytes, size_t *ret_len) {
  int status = -1;
  char *bytes = NULL;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat info;
  if (fstat(fd, &info) != 0) goto out;
  if (!S_ISREG(info.st_mode)) {
    errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    goto out;
  }
  size_t size = (size_t)info.st_size;
  bytes = malloc(size + 1);
  if (!bytes) goto out;
  size_t have = 0;
  while (have < size) {
    ssize_t got = read(fd, bytes + have, size - have);
    if (got < 0) goto out;
    if (got == 0) break;
    have += (size_t)got;
  }
  bytes[have] = '\0';
  *ret_bytes = bytes;
  *ret_len = have;
  bytes = NULL;
  status = 0;
out:;
  int reason = errno;
  free(bytes);
  close(fd);
  errno = reason;
  return status;
}

int paths_write_file(const char *path, const char *bytes, size_t len) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  int status = 0;
  for (size_t done = 0; done < len && status == 0;) {
    ssize_t wrote = write(fd, bytes + done, len - done);
    if (wrote < 0) status = -1;
    else done += (size_t)wrote;
  }
  int reason = errno;
  if (close(fd) != 0 && status == 0) return -1;
  errno = reason;
  return status;
}
