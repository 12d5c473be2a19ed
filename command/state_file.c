/* SPDX-License-Identifier: MIT
 */
#include "command/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

bool state_file_is_held(const char *lock) {
  int fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  bool held = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
  close(fd);
  return held;
}
