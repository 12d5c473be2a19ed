/* SPDX-License-Identifier: MIT
 *
 * command/paths.c: see the header.
 */
#include "command/paths.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *paths_join(const char *folder, const char *name) {
  char *path = NULL;
  return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

char *paths_beside_program(const char *name, const char *installed) {
  char folder[PATH_MAX] = ".";
  ssize_t len = readlink("/proc/self/exe", folder, sizeof folder - 1);
  if (len > 0) {
    folder[len] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
  }
  char *path = paths_join(folder, name);
  if (!path || access(path, F_OK) == 0) return path;
  free(path);
  return paths_join(folder, installed);
}

char *paths_in_home(const char *variable, const char *folder_of_home, const char *name) {
  const char *base = getenv(variable), *home = getenv("HOME");
  char *path = NULL;
  if (base && base[0] == '/') return paths_join(base, name);
  if (!home || home[0] != '/') return NULL;
  return asprintf(&path, "%s/%s/%s", home, folder_of_home, name) < 0 ? NULL : path;
}

int paths_make_folders(const char *path) {
  char *copy = strdup(path);
  int reason = copy ? 0 : ENOMEM;
  for (char *at = copy ? copy + 1 : NULL; !reason && at;) {
    at = strchr(at, '/');
    if (at) *at = '\0';
    if (mkdir(copy, 0700) && errno != EEXIST) reason = errno;
    if (at) *at++ = '/';
  }
  struct stat info;
  if (!reason && stat(path, &info)) reason = errno;
  else if (!reason && !S_ISDIR(info.st_mode)) reason = ENOTDIR;
  free(copy);
  return reason;
}

int paths_read_beyond(int fd, size_t most, char **ret_text, size_t *ret_len) {
  size_t room = 4096, len = 0;
  char *text = malloc(room);
  int reason = text ? 0 : ENOMEM;
  while (!reason && len <= most) {
    if (len + 1 >= room) {
      char *larger = realloc(text, room * 2);
      if (!larger) {
        reason = ENOMEM;
        break;
      }
      text = larger;
      room *= 2;
    }
    ssize_t got = read(fd, text + len, room - len - 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) reason = errno;
    if (got <= 0) break;
    len += (size_t)got;
  }
  if (reason) {
    free(text);
    return reason;
  }
  text[len] = '\0';
  *ret_text = text;
  *ret_len = len;
  return 0;
}

int paths_read_all(int fd, size_t most, char **ret_text, size_t *ret_len) {
  char *text = NULL;
  size_t len = 0;
  int reason = paths_read_beyond(fd, most, &text, &len);
  if (!reason && len > most) reason = EFBIG;
  if (reason) {
    free(text);
    return reason;
  }
  *ret_text = text;
  *ret_len = len;
  return 0;
}

int paths_read_file(const char *path, size_t most, char **ret_text, size_t *ret_len) {
  struct stat info;
  int fd =
      open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* non-blocking: it may be a FIFO */
  if (fd < 0) return errno;
  int reason = fstat(fd, &info) ? errno : 0;
  if (!reason && !S_ISREG(info.st_mode)) reason = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
  if (!reason) reason = paths_read_all(fd, most, ret_text, ret_len);
  close(fd);
  return reason;
}

int paths_write_all(int fd, const char *bytes, size_t len) {
  while (len) {
    ssize_t put = write(fd, bytes, len);
    if (put < 0 && errno == EAGAIN) { /* somebody made the pipe non-blocking */
      struct pollfd wait = {.fd = fd, .events = POLLOUT};
      if (poll(&wait, 1, -1) < 0 && errno != EINTR) return errno;
      continue;
    }
    if (put < 0 && errno != EINTR) return errno;
    if (put < 0) continue;
    bytes += put;
    len -= (size_t)put;
  }
  return 0;
}
