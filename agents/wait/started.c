/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/started.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"

enum { MOST_LINE = 4096, STARTED_FIELD = 20 };

uint64_t hook_started_at(uint32_t pid) {
  char path[64], *text = NULL;
  size_t len = 0;
  uint64_t started = 0;
  (void)snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  int reason = file_read_beyond(fd, MOST_LINE, &text, &len);
  close(fd);
  if (reason) return 0;
  const char *at = strrchr(text, ')');
  bool lives = at && at[1] == ' ' && !strchr("ZXx", at[2]);
  for (int i = 0; lives && at && i < STARTED_FIELD; i++) at = strchr(at + 1, ' ');
  if (lives && at) started = strtoull(at, NULL, 10);
  free(text);
  return started;
}
