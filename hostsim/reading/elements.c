/* SPDX-License-Identifier: MIT
 *
 * reading/elements.c: the formats in which each notification stands alone: xml, synthetic-call and
 * json.
 */
#include <jansson.h>
#include <stdio.h>
#include <tidings/abi.h>

#include "reading/reader.h"

static int level_named(struct tidings_span name) {
  static const char *const names[] = {"info", "warning", "error", "critical"};
  for (int level = 0; level < 4; level++)
    if (span_is(name, names[level])) return level;
  return -1;
}

/* -- xml --------------------------------------------------------------------------------------- */

/* Removes ` name="value"` from the tag; *ret_value is the value. */
static bool take_attribute(struct reader *reader, struct tidings_span *tag, const char *name,
                           struct tidings_span *ret_value) {
  char begin[32];
  (void)snprintf(begin, sizeof begin, " %s=\"", name);
  if (!reader_skip(tag, begin)) return false;
  const char *end = tag->len ? memchr(tag->ptr, '"', tag->len) : NULL;
  if (!end) {
    reader_fail(reader, "an attribute without its end");
    return false;
  }
  size_t len = (size_t)(end - tag->ptr);
  *ret_value = reader_without_entities(reader, span_of(tag->ptr, len));
  *tag = span_of(end + 1, tag->len - len - 1);
  return true;
}

static struct reading_line read_tag(struct reader *reader, struct tidings_span tag) {
  struct tidings_span level = span_text("info"), nonce = {NULL, 0};
  struct reading_line line = {.least = 0};
  if (!reader_skip(&tag, "<notification") || !take_attribute(reader, &tag, "source", &line.source))
    reader_fail(reader, "no element where one should begin");
  (void)take_attribute(reader, &tag, "name", &line.name);
  (void)take_attribute(reader, &tag, "level", &level);
  (void)take_attribute(reader, &tag, "nonce", &nonce);
  if (!span_is(tag, ">") || !span_equal(nonce, reader->nonce) || level_named(level) < 0)
    reader_fail(reader, "an attribute that no element has");
  else line.least = line.most = (uint8_t)level_named(level);
  return line;
}

static void read_element(struct reader *reader, struct tidings_span tag) {
  struct tidings_span line = {NULL, 0};
  struct reading_line begun = read_tag(reader, tag);
  size_t empty = 0;
  if (!reader_take_line(reader, &line)) reader_fail(reader, "an element without text");
  reader_begin_line(reader, begun, line);
  while (reader_is_fine(reader) && reader_take_line(reader, &line)) {
    if (span_is(line, "</notification>") && !empty) {
      reader_end_line(reader);
      return;
    }
    if (!line.len) {
      empty++;
      continue;
    }
    if (!reader_skip(&line, "  ")) reader_fail(reader, "a line that is not indented");
    reader_continue_line(reader, empty, line);
    empty = 0;
  }
  reader_fail(reader, "an element without its end");
}

void reader_xml(struct reader *reader) {
  struct tidings_span line;
  bool first = true;
  while (reader_is_fine(reader) && reader->rest.len) {
    if (!first && (!reader_take_line(reader, &line) || line.len))
      reader_fail(reader, "elements without an empty line between them");
    if (!reader_take_line(reader, &line)) reader_fail(reader, "an empty line at the end");
    else if (reader->reading->waiting) reader_fail(reader, "text after the count");
    else if (first || !reader_is_pending_line(reader, line)) read_element(reader, line);
    first = false;
  }
}

/* -- calls ------------------------------------------------------------------------------------- */

void reader_call(struct reader *reader) {
  struct tidings_span line = {NULL, 0};
  struct reading_line begun = {.least = TIDINGS_LEVEL_INFO, .most = TIDINGS_LEVEL_INFO};
  char nonce[128];
  size_t empty = 0;
  if (reader->reading->waiting) reader_fail(reader, "a call after the count");
  (void)snprintf(nonce, sizeof nonce, "[%.*s] ", SPAN_FORMAT(reader->nonce));
  if (!reader_take_line(reader, &line)) reader_fail(reader, "a call without a result");
  if (reader->nonce.len && !reader_skip(&line, nonce)) reader_fail(reader, "a call without nonce");
  if (reader_skip_level(&line, &begun.least)) begun.most = begun.least;
  reader_begin_line(reader, begun, line);
  while (reader_is_fine(reader) && reader_take_line(reader, &line)) {
    if (!line.len) {
      empty++;
    } else if (reader_skip(&line, "  ")) {
      reader_continue_line(reader, empty, line);
      empty = 0;
    } else if (empty || reader->rest.len || !reader_is_pending_line(reader, line)) {
      reader_fail(reader, "a line that is not indented");
    }
  }
  if (empty) reader_fail(reader, "an empty line at the end");
  reader_end_line(reader);
}

/* -- json -------------------------------------------------------------------------------------- */

static struct tidings_span text_of_member(struct reader *reader, const json_t *object,
                                          const char *name) {
  struct tidings_span copy = {NULL, 0};
  const json_t *value = json_object_get(object, name);
  if (!json_is_string(value)) return copy;
  if (arena_copy(reader->arena, span_of(json_string_value(value), json_string_length(value)),
                 &copy))
    reader->failed = true;
  return copy;
}

static void read_object(struct reader *reader, const json_t *object) {
  struct reading_line line = {.source = text_of_member(reader, object, "source"),
                              .name = text_of_member(reader, object, "name"),
                              .age = text_of_member(reader, object, "age")};
  int level = level_named(text_of_member(reader, object, "level"));
  size_t known = 3 + (json_object_get(object, "name") ? 1u : 0u) + (line.age.len ? 1u : 0u);
  if (level < 0 || json_object_size(object) != known || !json_object_get(object, "message"))
    reader_fail(reader, "an object that is no notification");
  line.least = line.most = (uint8_t)(level < 0 ? 0 : level);
  reader_begin_line(reader, line, text_of_member(reader, object, "message"));
  reader_end_line(reader);
}

static void read_document(struct reader *reader, const json_t *document) {
  const json_t *list = json_object_get(document, "system_notifications"), *object;
  const json_t *pending = json_object_get(document, "pending");
  size_t i, known = (pending ? 2u : 1u) + (reader->nonce.len ? 1u : 0u);
  if (!json_is_array(list) || json_object_size(document) != known ||
      !span_equal(text_of_member(reader, document, "nonce"), reader->nonce))
    reader_fail(reader, "a document that is no block");
  if (pending && json_integer_value(pending) <= 0) reader_fail(reader, "a count that is none");
  if (pending) reader->reading->waiting = (size_t)json_integer_value(pending);
  json_array_foreach(list, i, object) { read_object(reader, object); }
}

void reader_json(struct reader *reader) {
  static const char end[] = "\n```";
  struct tidings_span text = reader->rest;
  json_error_t error;
  if (!reader_skip(&text, "```json\n") || text.len < sizeof end ||
      memcmp(text.ptr + text.len - (sizeof end - 1), end, sizeof end - 1) != 0) {
    reader_fail(reader, "a block without its fences");
    return;
  }
  text.len -= sizeof end - 1;
  json_t *document =
      json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
  if (document) read_document(reader, document);
  else reader_fail(reader, "a block that is no JSON");
  if (memmem(text.ptr, text.len, "```", 3)) reader_fail(reader, "a fence inside the block");
  json_decref(document);
}
