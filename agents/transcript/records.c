/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/records.c: see the header.
 */
#include "agents/transcript/records.h"

#include <string.h>

#include "agents/transcript/time.h"

enum { MOST_NAME = 64 };

void hook_records_read(struct tidings_span text,
                       void (*each)(void *context, const struct json *record), void *context) {
  /* Agents cut texts in the middle of a character, and write what tools say. */
  static const struct json_rules rules = {
      .max_depth = 512, .nul = true, .halves = true, .repeats = true, .large = true};
  const char *end = text.ptr + text.len, *newline;
  for (const char *line = text.ptr;
       line < end && (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
    struct tidings_error error = {.size = sizeof error};
    struct arena arena = {.chunks = NULL};
    const struct json *record = NULL;
    if (*line == '{' && !json_read_by(&rules, span_of(line, (size_t)(newline - line)), "a record",
                                      &arena, &record, &error))
      each(context, record);
    arena_free(&arena);
  }
}

static bool name_of(const char **path, char name[MOST_NAME]) {
  size_t len = strcspn(*path, ".");
  if (len >= MOST_NAME) return false;
  memcpy(name, *path, len);
  name[len] = '\0';
  *path += len + ((*path)[len] == '.');
  return true;
}

bool hook_record_has(const struct json *record, const char *path, struct tidings_span text) {
  char name[MOST_NAME];
  while (record && path[0]) {
    if (!name_of(&path, name)) return false;
    if (strcmp(name, "*") != 0) {
      record = json_member(record, name);
      continue;
    }
    const struct json *one = record->kind == JSON_IS_ARRAY ? record->members : NULL;
    while (one && !hook_record_has(one, path, text)) one = one->next;
    return one;
  }
  return record && record->kind == JSON_IS_STRING && span_equal(record->text, text);
}

bool hook_record_is(const struct json *record, const char *path_and_text) {
  const char *equals = strchr(path_and_text, '=');
  char path[MOST_NAME];
  size_t len = equals ? (size_t)(equals - path_and_text) : MOST_NAME;
  if (len >= MOST_NAME) return false;
  memcpy(path, path_and_text, len);
  path[len] = '\0';
  return hook_record_has(record, path, span_text(equals + 1));
}

int64_t hook_record_time_ms(const struct json *record) {
  const struct json *time = json_member(record, "timestamp");
  return time && time->kind == JSON_IS_STRING ? hook_time_ms(time->text.ptr) : 0;
}
