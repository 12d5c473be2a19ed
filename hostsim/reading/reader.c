/* SPDX-License-Identifier: MIT
 */
#include "reading/reader.h"

#include <stdio.h>

enum { LEVELS = 4 };
static const char *const level_names[LEVELS] = {"info", "warning", "error", "critical"};

bool reader_take_line(struct reader *reader, struct tidings_span *ret_line) {
  struct tidings_span *rest = &reader->rest;
  if (!rest->len) return false;
  const char *feed = memchr(rest->ptr, '\n', rest->len);
  size_t len = feed ? (size_t)(feed - rest->ptr) : rest->len, taken = feed ? len + 1 : len;
  *ret_line = span_of(rest->ptr, len);
  *rest = span_of(rest->ptr + taken, rest->len - taken);
  return true;
}

void reader_fail(struct reader *reader, const char *problem) {
  if (!reader->reading->problem) reader->reading->problem = problem;
}

bool reader_is_fine(const struct reader *reader) {
  return !reader->reading->problem && !reader->failed;
}

bool reader_skip(struct tidings_span *text, const char *prefix) {
  size_t len = strlen(prefix);
  if (text->len < len || memcmp(text->ptr, prefix, len) != 0) return false;
  *text = span_of(text->ptr + len, text->len - len);
  return true;
}

bool reader_skip_level(struct tidings_span *text, uint8_t *ret_level) {
  char mark[16];
  for (unsigned level = 0; level < LEVELS; level++) {
    (void)snprintf(mark, sizeof mark, "[%s] ", level_names[level]);
    if (!reader_skip(text, mark)) continue;
    *ret_level = (uint8_t)level;
    return true;
  }
  return false;
}

bool reader_is_pending_line(struct reader *reader, struct tidings_span line) {
  size_t count = 0, digits = 0;
  if (!reader_skip(&line, "(")) return false;
  for (; digits < line.len && line.ptr[digits] >= '0' && line.ptr[digits] <= '9'; digits++)
    count = 10 * count + (size_t)(line.ptr[digits] - '0');
  line = span_of(line.ptr + digits, line.len - digits);
  if (!count ||
      !span_is(line, count == 1 ? " more notification pending)" : " more notifications pending)"))
    return false;
  if (reader->reading->waiting) reader_fail(reader, "a second count of what is pending");
  reader->reading->waiting = count;
  return true;
}

/* -- lines ------------------------------------------------------------------------------------- */

static bool has_room(struct reader *reader) {
  struct reading *reading = reader->reading;
  if (reading->line_count < reader->capacity) return true;
  size_t capacity = reader->capacity ? 2 * reader->capacity : 16;
  struct reading_line *lines = arena_array(reader->arena, capacity, sizeof *lines);
  if (!lines) {
    reader->failed = true;
    return false;
  }
  if (reading->line_count)
    memcpy(lines, reading->lines, reading->line_count * sizeof *reading->lines);
  reading->lines = lines;
  reader->capacity = capacity;
  return true;
}

void reader_begin_line(struct reader *reader, struct reading_line line, struct tidings_span text) {
  reader_end_line(reader);
  if (!has_room(reader)) return;
  reader->reading->lines[reader->reading->line_count++] = line;
  reader->is_open = true;
  reader->text.len = 0;
  buffer_span(&reader->text, text);
}

void reader_continue_line(struct reader *reader, size_t empty_lines, struct tidings_span text) {
  for (; empty_lines; empty_lines--) buffer_byte(&reader->text, '\n');
  buffer_byte(&reader->text, '\n');
  buffer_span(&reader->text, text);
}

void reader_end_line(struct reader *reader) {
  struct reading *reading = reader->reading;
  if (!reader->is_open) return;
  struct tidings_span text = buffer_view(&reader->text),
                      *to = &reading->lines[reading->line_count - 1].text;
  if (reader->entities) *to = reader_without_entities(reader, text);
  else reader->failed = reader->failed || arena_copy(reader->arena, text, to) != 0;
  reader->failed = reader->failed || reader->text.failed;
  reader->is_open = false;
}

/* -- entities ---------------------------------------------------------------------------------- */

static char take_entity(struct tidings_span *text) {
  static const struct {
    const char *name;
    char byte;
  } entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
  for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
    if (reader_skip(text, entities[i].name)) return entities[i].byte;
  return '\0';
}

struct tidings_span reader_without_entities(struct reader *reader, struct tidings_span text) {
  struct buffer out = BUFFER_EMPTY;
  struct tidings_span copy = {NULL, 0};
  while (text.len) {
    char byte = '\0';
    if (text.ptr[0] == '&') byte = take_entity(&text);
    if (!byte) {
      if (text.ptr[0] == '&' || text.ptr[0] == '<' || text.ptr[0] == '>')
        reader_fail(reader, "a character that needs an entity");
      byte = text.ptr[0];
      text = span_of(text.ptr + 1, text.len - 1);
    }
    buffer_byte(&out, byte);
  }
  if (out.failed || arena_copy(reader->arena, buffer_view(&out), &copy)) reader->failed = true;
  buffer_free(&out);
  return copy;
}
