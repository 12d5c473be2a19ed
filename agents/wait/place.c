/* SPDX-License-Identifier: MIT
 *
 * agents/wait/place.c: A killed process leaves its FIFO, which the next one takes. If its agent has
 * ended, the next process that takes any place removes it.
 */
#include "agents/wait/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "command/kit.h"
#include "command/paths.h"
#include "common/fnv.h"

enum { TRIES = 8 };

static uint64_t mix(uint64_t hash, const char *text) {
  return fnv_byte(fnv_span(hash, span_text(text)), 0xff);
}

char *hook_place_folder(void) {
  return paths_in_home("XDG_STATE_HOME", ".local/state", "tidings/waiting");
}

char *hook_place_path(const struct cli *cli, const struct hook_call *call, uint32_t owner) {
  char name[64];
  char *store = kit_store_path(cli), *folder = hook_place_folder();
  uint64_t hash = mix(mix(FNV_START, store ? store : ""), call->session);
  snprintf(name, sizeof name, "%u-%016llx", owner, (unsigned long long)hash);
  char *path = folder ? paths_join(folder, name) : NULL;
  free(folder);
  free(store);
  return path;
}

/* -- taking it --------------------------------------------------------------------------------- */

/* Opens the FIFO for both ends, so that neither waits for the other, nor gets SIGPIPE. Returns a
 * descriptor, or -1 and errno. */
static int open_fifo(const char *path) {
  struct stat found;
  int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return -1;
  if (!fstat(fd, &found) && S_ISFIFO(found.st_mode) && found.st_uid == geteuid()) return fd;
  close(fd);
  errno = EPERM;
  return -1;
}

/* Is the FIFO still the one at this path? A process that leaves removes it, perhaps just after
 * another one has opened it. */
static bool is_still_there(int folder, const char *name, int fd) {
  struct stat named, opened;
  return !fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) && !fstat(fd, &opened) &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/* Returns 0 and *ret_fd; or an errno. If another process has the place, *ret_fd is -1, and that
 * process gets the word: even while it leaves, it reads once more after it has removed the FIFO. */
static int lock_fifo(const char *path, char word, int *ret_fd) {
  for (int tries_left = TRIES; tries_left; tries_left--) {
    if (mkfifo(path, 0600) && errno != EEXIST) return errno;
    int fd = open_fifo(path);
    if (fd < 0 && errno != ENOENT) return errno;
    if (fd < 0) continue;
    int reason = flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
    if (reason == EWOULDBLOCK) (void)!write(fd, &word, 1);
    bool is_there = is_still_there(AT_FDCWD, path, fd);
    if (!reason && is_there) {
      *ret_fd = fd;
      return 0;
    }
    close(fd);
    if (reason && reason != EWOULDBLOCK) return reason;
    if (reason && is_there) break;
  }
  *ret_fd = -1;
  return 0;
}

/* Removes a FIFO whose agent is gone and whose lock is free: an agent in another namespace lives
 * without being seen here. */
static void remove_if_left(int folder, const char *name) {
  char *end = NULL;
  unsigned long owner = strtoul(name, &end, 10);
  if (end == name || *end != '-' || kill((pid_t)owner, 0) == 0 || errno != ESRCH) return;
  int fd = openat(folder, name, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_still_there(folder, name, fd))
    (void)unlinkat(folder, name, 0);
  close(fd);
}

static void remove_what_is_left(const char *folder) {
  DIR *places = opendir(folder);
  if (!places) return;
  for (const struct dirent *entry; (entry = readdir(places));)
    remove_if_left(dirfd(places), entry->d_name);
  closedir(places);
}

int hook_place_take(const struct cli *cli, const struct hook_call *call, uint32_t owner,
                    char word) {
  char *folder = hook_place_folder(), *path = hook_place_path(cli, call, owner);
  int fd = -1, reason = ENOMEM;
  if (folder && path) reason = paths_make_folders(folder);
  if (!reason) reason = lock_fifo(path, word, &fd);
  if (reason) hook_log("cannot wait: %s: %s", path ? path : "no place", strerror(reason));
  if (fd >= 0) remove_what_is_left(folder);
  free(path);
  free(folder);
  return fd;
}

char hook_place_leave(const struct cli *cli, const struct hook_call *call, uint32_t owner,
                      int place) {
  char *path = hook_place_path(cli, call, owner);
  if (path) (void)unlink(path); /* before another process can take the lock */
  free(path);
  char word = hook_place_hear(place);
  close(place);
  return word;
}

/* -- words ------------------------------------------------------------------------------------- */

char hook_place_hear(int place) {
  char words[64], word = 0;
  for (ssize_t got; (got = read(place, words, sizeof words)) > 0;) word = words[got - 1];
  return word;
}

void hook_place_say_at(const char *path, char word) {
  int fd = open_fifo(path);
  if (fd < 0) return;
  (void)!write(fd, &word, 1); /* is gone with the last descriptor, if nobody reads it */
  close(fd);
}

void hook_place_say(const struct cli *cli, const struct hook_call *call, uint32_t owner,
                    char word) {
  char *path = hook_place_path(cli, call, owner);
  if (path) hook_place_say_at(path, word);
  free(path);
}

/* A process that waits holds both ends: a FIFO that nobody reads has been left. */
bool hook_place_is_taken(const struct cli *cli, const char *session, uint32_t owner) {
  const struct hook_call call = {.session = session};
  char *path = hook_place_path(cli, &call, owner);
  int fd = path ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW) : -1;
  struct stat found;
  bool taken = fd >= 0 && !fstat(fd, &found) && S_ISFIFO(found.st_mode);
  if (fd >= 0) close(fd);
  free(path);
  return taken;
}
