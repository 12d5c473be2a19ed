/* SPDX-License-Identifier: MIT
 */
#include "agents/transcript/records.h"

#include <stdlib.h>
#include <string.h>

#include "agents/transcript/marker.h"
#include "agents/transcript/time.h"
#include "common/json_scan.h"

/* A record that is being read. The arrays are kept for the next one. */
struct reader {
  const struct hook_reading *reading;
  struct tidings_span text;
  const struct host_record *rows[JSON_SCAN_PATHS]; /* the row of each path */
  const struct host_record *any;                   /* the row of all strings; or NULL */
  struct json_paths paths;
  struct hook_record record;
  struct hook_value *values;
  struct hook_marked *markers;
  size_t value_room, marker_room;
  bool no_memory;
};

/* Returns `items` with room for one more than `count`. NULL: no memory; nothing has changed. */
static void *with_room(struct reader *reader, void *items, size_t count, size_t *room,
                       size_t size) {
  size_t larger = *room ? *room * 2 : 64;
  if (count < *room) return items;
  void *moved = reallocarray(items, larger, size);
  if (moved) *room = larger;
  else reader->no_memory = true;
  return moved;
}

/* -- what is found ----------------------------------------------------------------------------- */

/* Does the text match "x", "x*" or "*x"? NULL matches every text. */
static bool is_as_the_row(const char *pattern, struct tidings_span text) {
  size_t len = pattern ? strlen(pattern) : 0;
  if (!pattern) return true;
  if (pattern[0] == '*')
    return text.len >= len - 1 &&
           memcmp(text.ptr + text.len - (len - 1), pattern + 1, len - 1) == 0;
  if (pattern[len - 1] == '*')
    return text.len >= len - 1 && memcmp(text.ptr, pattern, len - 1) == 0;
  return json_scanned_is(text, span_of(pattern, len));
}

static void note_value(struct reader *reader, const struct host_record *row,
                       struct tidings_span text) {
  struct hook_record *record = &reader->record;
  if (!is_as_the_row(row->text, text)) return;
  struct hook_value *values =
      with_room(reader, reader->values, record->value_count, &reader->value_room, sizeof *values);
  if (!values) return;
  record->values = reader->values = values;
  record->says |= 1u << row->says;
  values[record->value_count++] = (struct hook_value){row->says, text};
}

static void note_marker(struct reader *reader, struct tidings_span text) {
  struct hook_record *record = &reader->record;
  uint64_t delivery = 0;
  const char *marker = hook_marker_at_end(text, &delivery);
  struct hook_marked *markers = marker ? with_room(reader, reader->markers, record->marker_count,
                                                   &reader->marker_room, sizeof *markers)
                                       : NULL;
  if (!markers) return;
  record->markers = reader->markers = markers;
  markers[record->marker_count++] =
      (struct hook_marked){delivery, (size_t)(marker - reader->text.ptr)};
}

static void take_string(struct reader *reader, struct tidings_span text) {
  const struct hook_reading *reading = reader->reading;
  if (reading->markers) note_marker(reader, text);
  if (reading->words.len && !reader->record.has_words && text.len >= reading->words.len)
    reader->record.has_words = memmem(text.ptr, text.len, reading->words.ptr, reading->words.len);
  if (reader->any) note_value(reader, reader->any, text);
}

static void take_value(void *context, const struct json_scanned *value) {
  struct reader *reader = context;
  if (value->kind == JSON_IS_NULL) return;
  for (uint32_t left = value->paths; left; left &= left - 1)
    note_value(reader, reader->rows[__builtin_ctz(left)], value->text);
  if (value->kind == JSON_IS_STRING) take_string(reader, value->text);
}

/* -- lines ------------------------------------------------------------------------------------- */

/* A row that does not fit is a mistake of the table, for which there is a test. */
static void prepare(struct reader *reader, const struct host_record *rows) {
  for (const struct host_record *row = rows; row && row->path; row++) {
    bool any = strcmp(row->path, HOST_ANY_STRING) == 0;
    int path = any ? -1 : json_paths_add(&reader->paths, row->path);
    if (any) reader->any = row;
    if (path >= 0) reader->rows[path] = row;
  }
}

/* Returns whether to go on. */
static bool read_line(struct reader *reader, const char *line, const char *newline) {
  const struct json_scan scan = {&reader->paths, take_value, reader};
  struct hook_record *record = &reader->record;
  size_t at = (size_t)(line - reader->text.ptr);
  *record = (struct hook_record){.at = at, .end = (size_t)(newline + 1 - reader->text.ptr)};
  if (*line != '{' || !json_scan(&scan, span_of(line, (size_t)(newline - line)))) return true;
  if (reader->no_memory) return false;
  if (hook_record_says(record, SAYS_HOOK_ECHO)) record->marker_count = 0;
  return reader->reading->each(reader->reading->context, record);
}

static int end_reading(struct reader *reader) {
  free(reader->values);
  free(reader->markers);
  return reader->no_memory ? -1 : 0;
}

int hook_records_read(const struct hook_reading *reading, struct tidings_span text) {
  struct reader reader = {.reading = reading, .text = text};
  const char *end = text.ptr + text.len, *newline;
  prepare(&reader, reading->host->records);
  for (const char *line = text.ptr;
       line < end && (newline = memchr(line, '\n', (size_t)(end - line))) &&
       read_line(&reader, line, newline);
       line = newline + 1)
    continue;
  return end_reading(&reader);
}

int hook_records_read_back(const struct hook_reading *reading, struct tidings_span text) {
  struct reader reader = {.reading = reading, .text = text};
  const char *newline = text.len ? memrchr(text.ptr, '\n', text.len) : NULL;
  prepare(&reader, reading->host->records);
  while (newline) {
    const char *before = memrchr(text.ptr, '\n', (size_t)(newline - text.ptr));
    if (!read_line(&reader, before ? before + 1 : text.ptr, newline)) break;
    newline = before;
  }
  return end_reading(&reader);
}

/* -- a record ---------------------------------------------------------------------------------- */

bool hook_record_says(const struct hook_record *record, enum host_says says) {
  return record->says >> says & 1;
}

struct tidings_span hook_record_first(const struct hook_record *record, enum host_says says) {
  for (size_t i = 0; hook_record_says(record, says) && i < record->value_count; i++) {
    if (record->values[i].says == says) return record->values[i].text;
  }
  return span_of(NULL, 0);
}

struct tidings_span hook_record_last(const struct hook_record *record, enum host_says says) {
  for (size_t i = hook_record_says(record, says) ? record->value_count : 0; i-- > 0;) {
    if (record->values[i].says == says) return record->values[i].text;
  }
  return span_of(NULL, 0);
}

bool hook_record_has(const struct hook_record *record, enum host_says says,
                     struct tidings_span text) {
  for (size_t i = 0; hook_record_says(record, says) && i < record->value_count; i++) {
    if (record->values[i].says == says && json_scanned_is(record->values[i].text, text))
      return true;
  }
  return false;
}

uint64_t hook_record_number(const struct hook_record *record, enum host_says says) {
  const struct json number = {.kind = JSON_IS_NUMBER, .text = hook_record_last(record, says)};
  int64_t value = 0;
  if (!number.text.len || !json_to_integer(&number, &value) || value < 0) return 0;
  return (uint64_t)value;
}

int64_t hook_record_time_ms(const struct hook_record *record) {
  struct tidings_span time = hook_record_first(record, SAYS_TIME);
  char text[40];
  if (!time.len || time.len >= sizeof text) return 0;
  memcpy(text, time.ptr, time.len);
  text[time.len] = '\0';
  return hook_time_ms(text);
}
