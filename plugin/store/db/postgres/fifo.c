/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/fifo.c: the FIFO of a waiting process. It is in a folder of the user, and its
 * name has the PID namespace, pid and start time of the process. The FIFO stays if another build of
 * the plugin is loaded. FIFOs of dead processes are removed when the next one is made.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db/postgres/local.h"

void pg_folder_path(char path[PG_FOLDER_BYTES]) {
  const char *folder = getenv("XDG_RUNTIME_DIR");
  if (folder && folder[0] == '/') (void)snprintf(path, PG_FOLDER_BYTES, "%s/tidings", folder);
  else (void)snprintf(path, PG_FOLDER_BYTES, "/tmp/tidings-%u", geteuid());
}

static void fifo_path(const struct db *db, char *path, size_t size) {
  char folder[PG_FOLDER_BYTES];
  pg_folder_path(folder);
  (void)snprintf(path, size, "%s/wake.%llu.%u.%llu", folder,
                 (unsigned long long)db->self.pid_namespace, db->self.pid,
                 (unsigned long long)db->self.start_time);
}

static int fifo_failed(const char *path, struct tidings_error *error) {
  return fail(error, TIDINGS_E_STORE, "the FIFO %s cannot be used: %s", path, strerror(errno));
}

static int open_fifo(const char *path, int *ret_fd, struct tidings_error *error) {
  struct stat entry;
  int fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && !fstat(fd, &entry) && S_ISFIFO(entry.st_mode) && entry.st_uid == geteuid()) {
    *ret_fd = fd;
    return 0;
  }
  if (fd >= 0) {
    close(fd);
    errno = ENOTSUP;
  }
  return fifo_failed(path, error);
}

/* Reads a dot and a number. */
static bool read_number(const char **at, uint64_t *ret_number) {
  char *end = NULL;
  if (**at != '.' || (*at)[1] < '0' || (*at)[1] > '9') return false;
  *ret_number = strtoull(*at + 1, &end, 10);
  *at = end;
  return true;
}

/* Reads the owner from the name of a FIFO of this PID namespace. */
static bool read_fifo_name(const struct db *db, const char *name, struct owner *ret_owner) {
  uint64_t space, pid, start;
  if (strncmp(name, "wake", 4) != 0) return false;
  name += 4;
  if (!read_number(&name, &space) || !read_number(&name, &pid) || !read_number(&name, &start) ||
      *name || space != db->self.pid_namespace || pid > UINT32_MAX)
    return false;
  *ret_owner = db->self;
  ret_owner->pid = (uint32_t)pid;
  ret_owner->start_time = start;
  return true;
}

/* Processes of other PID namespaces may use the same folder; their FIFOs stay, because this process
 * cannot know whether they are alive. */
static void take_away_dead(const struct db *db, const char *folder) {
  DIR *entries = opendir(folder);
  if (!entries) return;
  for (const struct dirent *entry; (entry = readdir(entries));) {
    struct owner owner;
    if (read_fifo_name(db, entry->d_name, &owner) && !owner_alive(&owner))
      (void)unlinkat(dirfd(entries), entry->d_name, 0);
  }
  closedir(entries);
}

int pg_folder_make(const char *folder, struct tidings_error *error) {
  struct stat entry;
  (void)mkdir(folder, 0700);
  if (!lstat(folder, &entry) && S_ISDIR(entry.st_mode) && entry.st_uid == geteuid() &&
      !(entry.st_mode & 077))
    return 0;
  return fail(error, TIDINGS_E_STORE, "%s is not a folder of yours alone; set XDG_RUNTIME_DIR",
              folder);
}

int pg_fifo_make(const struct db *db, int *ret_fd, struct tidings_error *error) {
  char folder[PG_FOLDER_BYTES], path[PG_PATH_BYTES];
  pg_folder_path(folder);
  fifo_path(db, path, sizeof path);
  int code = pg_folder_make(folder, error);
  if (code) return code;
  bool again = mkfifo(path, 0600) != 0;
  if (again && errno != EEXIST) return fifo_failed(path, error);
  if (!again) take_away_dead(db, folder);
  code = open_fifo(path, ret_fd, error);
  /* A ring between two openings must not be lost, so this byte makes the process check its sessions
   * once more. */
  if (!code && again && write(*ret_fd, "", 1) < 0 && errno != EAGAIN)
    code = fifo_failed(path, error);
  return code;
}

bool pg_fifo_is_there(const struct db *db) {
  char path[PG_PATH_BYTES];
  struct stat entry;
  fifo_path(db, path, sizeof path);
  return lstat(path, &entry) == 0 && S_ISFIFO(entry.st_mode);
}
