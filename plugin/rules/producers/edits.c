/* SPDX-License-Identifier: MIT
 */
#include "rules/producers/edits.h"

#include <string.h>

#include "common/siphash.h"

struct edit_key {
  char bytes[EDIT_KEY_BYTES];
};

static struct edit_key key_of(struct tidings_span path) {
  static const uint8_t key[16] = {0};
  uint64_t hash = siphash(key, path);
  struct edit_key result;
  _Static_assert(sizeof hash == sizeof result.bytes, "a key is a hash");
  memcpy(result.bytes, &hash, sizeof result.bytes);
  return result;
}

static bool is_edited(const struct memory *memory, struct tidings_span path) {
  if (!memory->edits.len) return false;
  struct edit_key key = key_of(path);
  for (size_t at = 0; at < memory->edits.len; at += EDIT_KEY_BYTES)
    if (memcmp(memory->edits.ptr + at, key.bytes, EDIT_KEY_BYTES) == 0) return true;
  return false;
}

bool edits_are_new(const struct memory *memory, const struct report *report) {
  for (size_t i = 0; i < report->path_count; i++)
    if (!is_edited(memory, report->paths[i])) return true;
  return false;
}

/* If a report has more than MEMORY_EDITS new files, only the first ones are kept. */
int edits_take(struct memory *memory, const struct report *report, struct arena *arena) {
  enum { MOST_BYTES = MEMORY_EDITS * EDIT_KEY_BYTES };
  size_t len = memory->edits.len, begin = len;
  char *keys = arena_alloc(arena, len + MOST_BYTES);
  if (!keys) return -1;
  if (len) memcpy(keys, memory->edits.ptr, len);
  for (size_t i = 0; i < report->path_count && len - begin < MOST_BYTES; i++) {
    if (is_edited(memory, report->paths[i])) continue;
    struct edit_key key = key_of(report->paths[i]);
    memcpy(keys + len, key.bytes, EDIT_KEY_BYTES);
    len += EDIT_KEY_BYTES;
  }
  size_t gone = len > MOST_BYTES ? len - MOST_BYTES : 0;
  memory->edits = span_of(keys + gone, len - gone);
  return 0;
}

int edits_mark(const struct memory *memory, struct report *report, struct arena *arena) {
  bool any = false;
  if (!memory->edits.len) return 0;
  bool *edited = arena_array(arena, report->path_count, sizeof *edited);
  if (!edited) return -1;
  for (size_t i = 0; i < report->path_count; i++) {
    edited[i] = is_edited(memory, report->paths[i]);
    any = any || edited[i];
  }
  report->edited = any ? edited : NULL;
  return 0;
}
