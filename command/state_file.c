/* SPDX-License-Identifier: MIT
 */
#include "command/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/json_value.h"
#include "common/file.h"

int state_file_write(const char *path, json_t *state) {
  char *text = state ? json_dumps(state, JSON_COMPACT) : NULL, *beside = NULL;
  json_decref(state);
  if (asprintf(&beside, "%s.new", path) < 0) beside = NULL;
  int reason = text && beside ? file_write_whole(beside, text, strlen(text)) : ENOMEM;
  if (!reason && rename(beside, path)) reason = errno;
  free(beside);
  free(text);
  return reason;
}

json_t *state_file_read(const char *path, size_t largest) {
  static const struct json_rules rules = {.max_depth = JSON_MAX_DEPTH, .large = true};
  struct tidings_error error = {.size = sizeof error};
  json_t *state = NULL;
  char *text = NULL;
  size_t len = 0;
  if (file_read_whole(path, largest, &text, &len)) return NULL;
  if (json_value_read(&rules, span_of(text, len), "the file", &state, &error)) state = NULL;
  free(text);
  return state;
}

static const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

/* Returns 0 if it has locked the file, or an errno; ESTALE: the locked file has been removed
 * meanwhile. */
static int lock_at(const char *path, int make, int *ret_fd) {
  struct flock lock = whole;
  struct stat info = {.st_nlink = 1};
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | make, 0600);
  if (fd < 0) return errno;
  int reason = fcntl(fd, F_OFD_SETLK, &lock) || fstat(fd, &info) ? errno : 0;
  if (!reason && !info.st_nlink) reason = ESTALE;
  if (reason) close(fd);
  else *ret_fd = fd;
  return reason == EACCES ? EAGAIN : reason;
}

/* Another process may remove the file before this one has locked it, so it tries again. */
int state_file_hold(const char *lock, int *ret_fd) {
  int reason = lock_at(lock, O_CREAT, ret_fd);
  while (reason == ESTALE) reason = lock_at(lock, O_CREAT, ret_fd);
  return reason;
}

int state_file_remove(const char *lock) {
  int fd = -1, reason = lock_at(lock, 0, &fd);
  if (reason) return reason;
  if (unlink(lock)) reason = errno;
  close(fd);
  return reason;
}

bool state_file_is_held(const char *lock) {
  struct flock found = whole;
  int fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  bool held = !fcntl(fd, F_OFD_GETLK, &found) && found.l_type != F_UNLCK;
  close(fd);
  return held;
}
