/* SPDX-License-Identifier: MIT
 */
#include "kit/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/arguments.h"

void folder_join(char *path, const char *folder, const char *name) {
  int length = snprintf(path, FOLDER_PATH_MAX, "%s/%s", folder, name);
  if (length < 0 || length >= FOLDER_PATH_MAX) die("path too long: %s/%s", folder, name);
}

void folder_make(const char *base, const char *prefix, char *path) {
  char name[128];
  snprintf(name, sizeof name, "tidings-%s-XXXXXX", prefix);
  folder_join(path, base, name);
  if (!mkdtemp(path)) die("mkdtemp %s: %s", path, strerror(errno));
}

static void remove_at(int parent, const char *name) {
  if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) return;
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) die("removing %s: %s", name, strerror(errno));
  DIR *folder = fdopendir(fd);
  if (!folder) die("removing %s: %s", name, strerror(errno));
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      remove_at(fd, entry->d_name);
  }
  closedir(folder);
  if (unlinkat(parent, name, AT_REMOVEDIR) != 0) die("removing %s: %s", name, strerror(errno));
}

void folder_remove(const char *path) { remove_at(AT_FDCWD, path); }

/* Copies only data, not holes, so that a store's sparse file stays sparse. */
static void copy_data(int from, int to, off_t size) {
  char buffer[65536];
  for (off_t data = lseek(from, 0, SEEK_DATA); data >= 0 && data < size;
       data = lseek(from, data, SEEK_DATA)) {
    off_t end = lseek(from, data, SEEK_HOLE);
    while (data < end) {
      size_t want = (size_t)(end - data) < sizeof buffer ? (size_t)(end - data) : sizeof buffer;
      ssize_t got = pread(from, buffer, want, data);
      if (got <= 0 || pwrite(to, buffer, (size_t)got, data) != got)
        die("copying: %s", strerror(errno));
      data += got;
    }
  }
  if (ftruncate(to, size) != 0) die("copying: %s", strerror(errno));
}

static void copy_file(const char *from, const char *to) {
  struct stat status;
  int in = open(from, O_RDONLY | O_CLOEXEC);
  if (in < 0 || fstat(in, &status) != 0) die("%s: %s", from, strerror(errno));
  int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, status.st_mode & 0777);
  if (out < 0) die("%s: %s", to, strerror(errno));
  copy_data(in, out, status.st_size);
  close(in);
  close(out);
}

void folder_copy(const char *from, const char *to) {
  if (mkdir(to, 0700) != 0) die("%s: %s", to, strerror(errno));
  DIR *folder = opendir(from);
  if (!folder) die("%s: %s", from, strerror(errno));
  for (struct dirent *entry; (entry = readdir(folder));) {
    char source[FOLDER_PATH_MAX], target[FOLDER_PATH_MAX];
    struct stat status;
    folder_join(source, from, entry->d_name);
    folder_join(target, to, entry->d_name);
    if (lstat(source, &status) == 0 && S_ISREG(status.st_mode)) copy_file(source, target);
  }
  closedir(folder);
}

uint8_t *file_read(const char *path, size_t *ret_length) {
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) != 0) die("%s: %s", path, strerror(errno));
  size_t length = (size_t)status.st_size, done = 0;
  uint8_t *bytes = malloc(length + 1);
  if (!bytes) die("out of memory");
  while (done < length) {
    ssize_t got = read(fd, bytes + done, length - done);
    if (got <= 0) die("%s: %s", path, strerror(errno));
    done += (size_t)got;
  }
  close(fd);
  *ret_length = length;
  return bytes;
}

void file_write(const char *path, const void *bytes, size_t length) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) die("%s: %s", path, strerror(errno));
  for (size_t done = 0; done < length;) {
    ssize_t put = write(fd, (const char *)bytes + done, length - done);
    if (put <= 0) die("%s: %s", path, strerror(errno));
    done += (size_t)put;
  }
  close(fd);
}
