/* SPDX-License-Identifier: MIT
 *
 * remove_tree.c: see the header. Relative to open descriptors throughout, so that nothing outside can be reached by renaming.
 */
#include "remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEEPEST 16 /* a plugin's store is one folder deep */

static void remove_entry(int parent, const char *name, int depth);

static void empty_folder(int fd, int depth) {
  DIR *folder = fdopendir(fd);
  if (!folder) {
    close(fd);
    return;
  }
  for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) remove_entry(dirfd(folder), entry->d_name, depth);
  }
  closedir(folder);
}

static void remove_entry(int parent, const char *name, int depth) {
  if (unlinkat(parent, name, 0) == 0 || depth >= DEEPEST) return;
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0) empty_folder(fd, depth + 1);
  unlinkat(parent, name, AT_REMOVEDIR);
}

void hk_remove_tree(const char *path) {
  int saved = errno;
  remove_entry(AT_FDCWD, path, 0);
  errno = saved;
}
