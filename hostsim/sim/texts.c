/* SPDX-License-Identifier: MIT
 *
 * sim/texts.c: compares a reply's texts with what they should say. They are read back from the
 * bytes, and compared without characters that escaping adds.
 */
#include <stdio.h>
#include <string.h>
#include <tidings/reply.h>

#include "common/buffer.h"
#include "reading/reading.h"
#include "sim/expect.h"
#include "sim/model/parts.h"

static json_t *bare(struct tidings_span text) {
  struct buffer out = BUFFER_EMPTY;
  reading_write_bare(text, &out);
  json_t *string = out.failed ? NULL : json_stringn(out.bytes ? out.bytes : "", out.len);
  buffer_free(&out);
  return string;
}

/* -- what it should be ------------------------------------------------------------------------- */

/* Returns what the format shows of the level. */
static json_t *expected_level(const char *format, uint8_t level) {
  if (strcmp(format, "markdown-flat") == 0) return json_null();
  if (strcmp(format, "xml-batch") == 0 && level != TIDINGS_LEVEL_CRITICAL)
    return json_string("not critical");
  return json_string(act_level_names[level]);
}

/* Adds the age after the first line that is not empty. */
static json_t *bare_aged(const char *message, const char *age) {
  char text[3 * TEXT_SIZE];
  const char *line = message + strspn(message, " \n");
  size_t first = (size_t)(line - message) + strcspn(line, "\n");
  (void)snprintf(text, sizeof text, "%.*s (%s)%s", (int)first, message, age, message + first);
  return bare(span_text(*age ? text : message));
}

static json_t *expected_line(const struct model *model, const struct sim_settings *settings,
                             int index) {
  const char *format = act_looks[settings->look].format;
  bool json = strcmp(format, "json") == 0;
  char message[2 * TEXT_SIZE], age[NAME_SIZE];
  bytes_message(model, index, message);
  bytes_age(model, settings, index, age);
  return json_pack("{s:o, s:o, s:s}", "text", bare_aged(message, json ? "" : age), "level",
                   expected_level(format, model->items[index].level), "age", json ? age : "");
}

static bool is_grouped(const char *format) {
  return strcmp(format, "markdown") == 0 || strcmp(format, "openai") == 0 ||
         strcmp(format, "anthropic") == 0;
}

/* Lists the lines in the reply's order, or level by level. */
static json_t *expected_lines(const struct model *model, const struct answer *answer,
                              const struct sim_settings *settings) {
  const char *format = act_looks[settings->look].format;
  json_t *lines = json_array();
  for (unsigned level = TIDINGS_LEVEL_CRITICAL + 1; level-- > 0;) {
    for (unsigned i = 0; i < answer->shown_count; i++) {
      bool now = is_grouped(format) ? model->items[answer->shown[i]].level == level
                                    : level == TIDINGS_LEVEL_CRITICAL;
      if (now) json_array_append_new(lines, expected_line(model, settings, answer->shown[i]));
    }
  }
  return lines;
}

json_t *expect_texts(const struct model *model, const struct answer *answer,
                     const struct sim_settings *settings) {
  char text[TEXT_SIZE];
  json_t *steered = json_array();
  uint32_t bytes = bytes_of_block(model, settings, answer->bare, answer->shown, answer->shown_count,
                                  answer->waiting);
  for (unsigned i = 0; i < answer->steered_count; i++) {
    bytes += bytes_of_steered(settings, model->messages[answer->steered[i]].text);
    act_text_of_message(model->messages[answer->steered[i]].text, text);
    json_array_append_new(steered, bare(span_text(text)));
  }
  return json_pack("{s:o, s:I, s:o, s:I}", "lines", expected_lines(model, answer, settings),
                   "waiting", (json_int_t)(answer->shown_count ? answer->waiting : 0), "steered",
                   steered, "bytes", (json_int_t)bytes);
}

/* -- what it is -------------------------------------------------------------------------------- */

static uint32_t number_of(const json_t *name, const char *const *names, size_t count) {
  size_t number = 0;
  while (number < count && strcmp(names[number], json_string_value(name)) != 0) number++;
  return (uint32_t)number;
}

static struct reading_part part_of(const json_t *message) {
  static const char *const voices[] = {"carrier", "block", "developer", "user", "tool"};
  static const char *const places[] = {"prepend", "append", "before", "after", "pair"};
  const json_t *text = json_object_get(message, "text");
  return (struct reading_part){.voice = number_of(json_object_get(message, "role"), voices, 5),
                               .place = number_of(json_object_get(message, "place"), places, 5),
                               .text = span_of(json_string_value(text), json_string_length(text))};
}

static json_t *plain_line(const struct reading_line *line) {
  json_t *level = json_null();
  if (line->least == line->most) level = json_string(act_level_names[line->least]);
  else if (line->most < TIDINGS_LEVEL_CRITICAL) level = json_string("not critical");
  return json_pack("{s:o, s:o, s:o}", "text", bare(line->text), "level", level, "age",
                   json_stringn(line->age.len ? line->age.ptr : "", line->age.len));
}

static json_t *plain_reading(const struct reading *reading) {
  json_t *lines = json_array(), *steered = json_array();
  for (size_t i = 0; i < reading->line_count; i++)
    json_array_append_new(lines, plain_line(&reading->lines[i]));
  for (size_t i = 0; i < reading->steered_count; i++)
    json_array_append_new(steered, bare(reading->steered[i]));
  json_t *plain =
      json_pack("{s:o, s:I, s:o, s:I}", "lines", lines, "waiting", (json_int_t)reading->waiting,
                "steered", steered, "bytes", (json_int_t)reading->bytes);
  if (reading->problem) json_object_set_new(plain, "problem", json_string(reading->problem));
  return plain;
}

json_t *plain_texts(const json_t *messages, const char *format) {
  struct arena arena = ARENA_EMPTY;
  struct reading reading;
  json_t *plain = NULL;
  size_t count = json_array_size(messages);
  struct reading_part *parts = arena_array(&arena, count + 1, sizeof *parts);
  if (!parts) goto out;
  for (size_t i = 0; i < count; i++) parts[i] = part_of(json_array_get(messages, i));
  if (reading_of_parts(format, span_of(NULL, 0), parts, count, &arena, &reading)) goto out;
  plain = plain_reading(&reading);
out:
  arena_free(&arena);
  return plain;
}
