/* SPDX-License-Identifier: MIT
 */
#include "agents/wait/watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include "agents/transcript/ended.h"

enum { TRIES = 40, TRY_MS = 250 };

static void try_to_watch(struct hook_watch *watch) {
  watch->watched = inotify_add_watch(watch->fd, watch->path, IN_MODIFY) >= 0;
  watch->tries = watch->watched ? 0 : watch->tries - 1;
}

void hook_watch_begin(struct hook_watch *watch, const struct hook_call *call) {
  *watch = (struct hook_watch){.fd = -1, .path = call->transcript};
  if (!host_record_says(call->host, SAYS_STOPPED) || call->transcript[0] != '/') return;
  watch->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (watch->fd < 0) return;
  watch->tries = TRIES;
  try_to_watch(watch);
}

void hook_watch_end(struct hook_watch *watch) {
  if (watch->fd >= 0) close(watch->fd);
  watch->fd = -1;
}

int hook_watch_sleep(const struct hook_watch *watch, int longest) {
  return watch->fd >= 0 && watch->tries && (longest < 0 || longest > TRY_MS) ? TRY_MS : longest;
}

bool hook_watch_changed(struct hook_watch *watch, bool readable) {
  char events[4096];
  if (watch->fd < 0) return false;
  if (watch->tries) {
    try_to_watch(watch);
    return watch->watched;
  }
  while (readable && read(watch->fd, events, sizeof events) > 0) continue;
  return readable;
}

int64_t hook_watch_interruption(struct hook_watch *watch, const struct hook_call *call) {
  int64_t when_ms = hook_ended_by_person_ms(watch->path, call->host);
  if (when_ms <= watch->seen_ms) return 0;
  watch->seen_ms = when_ms;
  return when_ms;
}
