/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/files.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/kit.h"
#include "command/paths.h"

/* Removing an open file first causes IN_ATTRIB; IN_DELETE_SELF comes later. */
enum { GOES = IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF };

/* Is it a file of the store, or this process's FIFO? FIFOs of other processes come and go. */
static bool is_of_store(const char *path, const struct stat *fifo) {
  struct stat found;
  if (lstat(path, &found)) return false;
  return S_ISREG(found.st_mode) || (found.st_ino == fifo->st_ino && found.st_dev == fifo->st_dev);
}

static bool watch_all(int fd, const char *folder, const struct stat *fifo) {
  DIR *files = opendir(folder);
  bool all = files != NULL, any = false;
  for (const struct dirent *entry; all && (entry = readdir(files));) {
    char *path = paths_join(folder, entry->d_name);
    bool ours = path && is_of_store(path, fifo);
    if (!path || (ours && inotify_add_watch(fd, path, GOES) < 0)) all = false;
    any = any || ours;
    free(path);
  }
  if (files) closedir(files);
  return all && any;
}

int hook_files_watch(const struct cli *cli, int wake_fd) {
  struct stat fifo;
  char *folder = kit_store_path(cli);
  int fd = folder && !fstat(wake_fd, &fifo) ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;
  if (fd >= 0 && !watch_all(fd, folder, &fifo)) {
    close(fd);
    fd = -1;
  }
  free(folder);
  return fd;
}
