/* SPDX-License-Identifier: MIT
 */
#include "command/stamp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct file_stamp stamp_of_file(const char *path) {
  struct file_stamp stamp = {.text = ""};
  struct stat info;
  if (!lstat(path, &info)) {
    int64_t time_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    (void)snprintf(stamp.text, sizeof stamp.text, "%" PRIuMAX ":%" PRIdMAX ":%" PRId64,
                   (uintmax_t)info.st_ino, (intmax_t)info.st_size, time_ns);
  } else if (errno == ENOENT || errno == ENOTDIR) {
    memcpy(stamp.text, "gone", sizeof "gone");
  }
  return stamp;
}
