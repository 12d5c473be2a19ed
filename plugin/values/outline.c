/* SPDX-License-Identifier: MIT
 */
#include "values/outline.h"

#include "common/fnv.h"
#include "common/utf8.h"

enum { LEAST_BYTES = 200, LONGEST_CHARACTER = 4 };

/* Eight bytes at a time: it is computed for each item. */
uint64_t outline_hash(uint64_t hash, struct tidings_span text) {
  const char *at = text.ptr;
  uint64_t word;
  hash ^= text.len * UINT64_C(0x9e3779b97f4a7c15);
  for (size_t left = text.len; left; at += sizeof word) {
    size_t part = left < sizeof word ? left : sizeof word;
    word = 0;
    memcpy(&word, at, part);
    hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 32;
    left -= part;
  }
  return hash;
}

static bool is_blank(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static size_t blanks_of(struct tidings_span message) {
  size_t len = 0;
  while (len < message.len && is_blank(message.ptr[len])) len++;
  return len;
}

size_t outline_first_line(struct tidings_span message) {
  size_t len = blanks_of(message);
  while (len < message.len && message.ptr[len] != '\n' && message.ptr[len] != '\r') len++;
  return len;
}

size_t outline_least_bytes(struct tidings_span message, bool critical) {
  size_t first = outline_first_line(message), blanks = blanks_of(message);
  if (critical || first - blanks <= LEAST_BYTES) return first;
  return utf8_prefix(message, blanks + LEAST_BYTES + LONGEST_CHARACTER - 1);
}

static enum outline_sort sort_of(const struct item *item) {
  const struct notification *note = &item->note;
  if (!note->message.len) return OUTLINE_DAMAGED;
  return note->key.len || note->handle.len || note->caused_by.len || note->made_by ||
                 note->due_ms || note->activation == ACTIVATION_SILENT || item->copied
             ? OUTLINE_SPECIAL
             : OUTLINE_PLAIN;
}

static int64_t end_of(const struct item *item) {
  int64_t end_ms;
  if (item->note.ttl_ms <= 0) return INT64_MAX;
  return __builtin_add_overflow(item->time_ms, item->note.ttl_ms, &end_ms) ? INT64_MAX : end_ms;
}

/* A short text need not be looked at. */
static uint32_t bytes_of(const struct notification *note) {
  struct tidings_span message = note->message;
  size_t least = message.len <= LEAST_BYTES
                     ? message.len
                     : outline_least_bytes(message, notification_is_critical(note));
  size_t bytes = note->source.len + note->name.len + least;
  return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

struct outline outline_of(const struct item *item, struct outline_kind *kind) {
  const struct notification *note = &item->note;
  *kind = (struct outline_kind){
      .source = note->source, .name = note->name, .tool = note->tool, .level = note->level};
  return (struct outline){.kind = kind,
                          .n = item->n,
                          .time_ms = item->time_ms,
                          .ends_ms = end_of(item),
                          .message = outline_hash(FNV_START, note->message),
                          .bytes = bytes_of(note),
                          .sort = (uint8_t)sort_of(item),
                          .rings = notification_rings(note)};
}

bool outline_kind_equal(const struct outline_kind *a, const struct outline_kind *b) {
  return a->level == b->level && span_equal(a->source, b->source) && span_equal(a->name, b->name) &&
         span_equal(a->tool, b->tool);
}
