/* SPDX-License-Identifier: MIT
 */
#include "command/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"

enum { LARGEST_SECRET = 65536 };

const char *secret_file_read(const char *path, char **ret_text, size_t *ret_len) {
  struct stat info;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return strerror(errno);
  const char *mistake = NULL;
  if (fstat(fd, &info) || !S_ISREG(info.st_mode)) mistake = "is not a file";
  else if (info.st_mode & 077) mistake = "others can read or write it; expected mode 0600";
  int reason = mistake ? 0 : file_read_all(fd, LARGEST_SECRET, ret_text, ret_len);
  close(fd);
  return reason ? strerror(reason) : mistake;
}
