/* SPDX-License-Identifier: MIT
 */
#include "cli/excerpt/lines.h"

#include "common/plain_text.h"

/* Most lines are plain already. */
static bool is_plain(const char *bytes, size_t len) {
  for (size_t i = 0; i < len; i++) {
    unsigned char byte = (unsigned char)bytes[i];
    if ((byte < 0x20 && byte != '\t') || byte >= 0x7F) return false;
  }
  return true;
}

static struct tidings_span without_end(struct tidings_span text) {
  while (text.len && strchr(" \t\n", text.ptr[text.len - 1])) text.len--;
  return text;
}

static void give(const struct lines *lines, uint64_t number, lines_take *take, void *context) {
  struct buffer plain = BUFFER_EMPTY;
  struct tidings_span text = span_of(lines->bytes, lines->len);
  if (!is_plain(lines->bytes, lines->len)) {
    plain_text(text, &plain);
    text = plain.failed || !plain.len ? span_of("", 0) : buffer_view(&plain);
  }
  take(context, number, without_end(text), lines->long_line);
  buffer_free(&plain);
}

static void clear(struct lines *lines) {
  lines->len = lines->segment = 0;
  lines->long_line = lines->returned = false;
}

/* Keeps only the visible segment, because a progress bar may return a million times. */
static void return_to_start(struct lines *lines) {
  size_t seen = lines->len - lines->segment;
  lines->returned = false;
  if (lines->long_line) {
    clear(lines);
    return;
  }
  if (lines->segment) {
    memmove(lines->bytes, lines->bytes + lines->segment, seen);
    lines->len = seen;
  }
  lines->segment = lines->len;
}

static void keep(struct lines *lines, const char *bytes, size_t len) {
  if (len && lines->returned) return_to_start(lines);
  size_t room = sizeof lines->bytes - lines->len;
  if (len > room) lines->long_line = true;
  if (len > room) len = room;
  memcpy(lines->bytes + lines->len, bytes, len);
  lines->len += len;
}

/* Adds text without a line break. */
static void add_stretch(struct lines *lines, const char *bytes, size_t len) {
  while (len) {
    const char *end = memchr(bytes, '\r', len);
    size_t part = end ? (size_t)(end - bytes) : len;
    keep(lines, bytes, part);
    if (!end) return;
    if (!lines->returned && lines->len < sizeof lines->bytes) keep(lines, "\r", 1);
    lines->returned = true;
    bytes += part + 1;
    len -= part + 1;
  }
}

void lines_add(struct lines *lines, const char *bytes, size_t len, lines_take *take,
               void *context) {
  while (len) {
    const char *end = memchr(bytes, '\n', len);
    size_t part = end ? (size_t)(end - bytes) : len;
    add_stretch(lines, bytes, part);
    if (!end) return;
    give(lines, ++lines->number, take, context);
    clear(lines);
    bytes += part + 1;
    len -= part + 1;
  }
}

void lines_rest(const struct lines *lines, lines_take *take, void *context) {
  if (lines->len) give(lines, lines->number + 1, take, context);
}
