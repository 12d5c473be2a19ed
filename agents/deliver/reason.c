/* SPDX-License-Identifier: MIT
 */
#include "agents/deliver/reason.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/call/log.h"
#include "command/paths.h"
#include "common/file.h"

enum { MOST_DIGITS = 24 };

void hook_reason_note(const struct hook_call *call, uint64_t delivery) {
  char text[MOST_DIGITS];
  const char *slash = call->reason ? strrchr(call->reason, '/') : NULL;
  char *folder = slash ? strndup(call->reason, (size_t)(slash - call->reason)) : NULL;
  int len = snprintf(text, sizeof text, "%" PRIu64 "\n", delivery);
  int reason = folder ? paths_make_folders(folder) : 0;
  if (folder && !reason) reason = file_write_whole(call->reason, text, (size_t)len);
  if (reason) hook_log("cannot write %s: %s", call->reason, strerror(reason));
  free(folder);
}

uint64_t hook_reason_noted(const struct hook_call *call) {
  char *text = NULL;
  size_t len = 0;
  if (!call->reason || file_read_whole(call->reason, MOST_DIGITS, &text, &len)) return 0;
  uint64_t delivery = strtoull(text, NULL, 10);
  free(text);
  return delivery;
}
