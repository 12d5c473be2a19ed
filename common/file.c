/* SPDX-License-Identifier: MIT
 */
#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int file_read_beyond(int fd, size_t most, char **ret_text, size_t *ret_len) {
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

int file_read_all(int fd, size_t most, char **ret_text, size_t *ret_len) {
  char *text = NULL;
  size_t len = 0;
  int reason = file_read_beyond(fd, most, &text, &len);
  if (!reason && len > most) reason = EFBIG;
  if (reason) {
    free(text);
    return reason;
  }
  *ret_text = text;
  *ret_len = len;
  return 0;
}

int file_read_whole(const char *path, size_t most, char **ret_text, size_t *ret_len) {
  struct stat info;
  int fd =
      open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* non-blocking: it may be a FIFO */
  if (fd < 0) return errno;
  int reason = fstat(fd, &info) ? errno : 0;
  if (!reason && !S_ISREG(info.st_mode)) reason = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
  if (!reason) reason = file_read_all(fd, most, ret_text, ret_len);
  close(fd);
  return reason;
}

int file_write_all(int fd, const char *bytes, size_t len) {
  while (len) {
    ssize_t put = write(fd, bytes, len);
    if (put < 0 && errno == EAGAIN) { /* another process made the pipe non-blocking */
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

/* Checks the result of close, because some file systems report a failed write only there. */
static int close_written(int fd, int reason) {
  if (close(fd) && !reason) return errno;
  return reason;
}

int file_write_whole(const char *path, const char *bytes, size_t len) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  return fd < 0 ? errno : close_written(fd, file_write_all(fd, bytes, len));
}

static int copy_contents(int from, int to, off_t left) {
  while (left > 0) {
    ssize_t sent = sendfile(to, from, NULL, (size_t)left);
    if (sent <= 0) return sent ? errno : EIO;
    left -= sent;
  }
  return 0;
}

int file_copy(const char *from, const char *to) {
  struct stat info;
  int in = open(from, O_RDONLY | O_CLOEXEC);
  if (in < 0) return errno;
  int reason = fstat(in, &info) ? errno : 0;
  if (!reason) {
    mode_t mode = info.st_mode & S_IXUSR ? 0700 : 0600;
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    reason = out < 0 ? errno : close_written(out, copy_contents(in, out, info.st_size));
  }
  close(in);
  return reason;
}
