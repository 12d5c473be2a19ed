/* SPDX-License-Identifier: MIT
 */
#include "agents/transcript/transcript.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *read_end(int fd, off_t size, size_t most, size_t *ret_len) {
  size_t len = size < (off_t)most ? (size_t)size : most, have = 0;
  char *text = malloc(len ? len : 1);
  while (text && have < len) {
    ssize_t got = pread(fd, text + have, len - have, size - (off_t)len + (off_t)have);
    if (got <= 0) break;
    have += (size_t)got;
  }
  *ret_len = have;
  return text;
}

int hook_lines_read(const char *path, size_t most, struct hook_lines *ret_lines) {
  struct hook_lines lines = {.whole = true};
  struct stat status;
  size_t len = 0;
  int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
  if (fd < 0) return -1;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    lines.read = read_end(fd, status.st_size, most, &len);
    lines.whole = status.st_size <= (off_t)most;
  }
  close(fd);
  if (!lines.read) return -1;
  const char *first = lines.whole ? NULL : memchr(lines.read, '\n', len),
             *last = memrchr(lines.read, '\n', len);
  lines.cut = lines.whole ? 0 : first ? (size_t)(first + 1 - lines.read) : len;
  lines.text = span_of(lines.read + lines.cut,
                       last && lines.cut < len ? (size_t)(last + 1 - lines.read) - lines.cut : 0);
  *ret_lines = lines;
  return 0;
}

void hook_lines_finish(struct hook_lines *lines) {
  free(lines->read);
  *lines = (struct hook_lines){.read = NULL};
}
