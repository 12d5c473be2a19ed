/* SPDX-License-Identifier: MIT
 *
 * agents/wait/watch.c: see the header. Seen with Claude Code 2.1.329: Esc writes {"type":
 * "user", "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by
 * user]"}]}, ..., "timestamp": ...}, in a tool call "... by user for tool use]". A text that only
 * quotes this has its quotes escaped.
 */
#include "agents/wait/watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "agents/transcript/time.h"
#include "agents/transcript/transcript.h"

enum { TRIES = 40, TRY_MS = 250, RECENT = 64 << 10 }; /* bytes */

static void try_to_watch(struct hook_watch *watch) {
  watch->watched = inotify_add_watch(watch->fd, watch->path, IN_MODIFY) >= 0;
  watch->tries = watch->watched ? 0 : watch->tries - 1;
}

void hook_watch_begin(struct hook_watch *watch, const struct hook_call *call) {
  *watch = (struct hook_watch){.fd = -1, .path = call->transcript};
  if (!call->host->interruption || call->transcript[0] != '/') return;
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

/* -- the record ----------------------------------------------------------------------------------
 */

/* The end of the last whole line with these words, from the words on. */
static bool find_last(const char *text, size_t len, const char *words,
                      struct tidings_span *ret_rest) {
  const char *end = memrchr(text, '\n', len), *at = text, *found = NULL;
  while (end && (at = memmem(at, (size_t)(end - at), words, strlen(words)))) found = at++;
  if (!found) return false;
  const char *line_end = memchr(found, '\n', (size_t)(end + 1 - found));
  *ret_rest = (struct tidings_span){found, (size_t)(line_end - found)};
  return true;
}

static int64_t time_in(struct tidings_span record) {
  static const char name[] = "\"timestamp\":\"";
  const char *found = memmem(record.ptr, record.len, name, sizeof name - 1);
  char text[40] = "";
  if (!found) return 0;
  const char *start = found + sizeof name - 1;
  size_t len = (size_t)(record.ptr + record.len - start);
  const char *quote = memchr(start, '"', len < sizeof text ? len : sizeof text - 1);
  if (quote) memcpy(text, start, (size_t)(quote - start));
  return hook_time_ms(text);
}

int64_t hook_watch_interruption(struct hook_watch *watch, const struct hook_call *call) {
  struct tidings_span record;
  size_t len = 0;
  bool whole;
  char *text = hook_transcript_end(watch->path, RECENT, &len, &whole);
  int64_t when_ms =
      text && find_last(text, len, call->host->interruption, &record) ? time_in(record) : 0;
  free(text);
  if (when_ms <= watch->seen_ms) return 0;
  watch->seen_ms = when_ms;
  return when_ms;
}
