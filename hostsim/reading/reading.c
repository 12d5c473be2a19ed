/* SPDX-License-Identifier: MIT
 *
 * reading/reading.c: finds out which part is the block and which are steered messages, and removes
 * what separates them from the content.
 */
#include "reading/reading.h"

#include <tidings/reply.h>

#include "common/utf8.h"
#include "reading/reader.h"

static const struct {
  const char *name;
  void (*read)(struct reader *reader);
  bool entities;
} formats[] = {
    {"markdown", reader_markdown, false},
    {"markdown-flat", reader_markdown_flat, false},
    {"xml", reader_xml, true},
    {"xml-batch", reader_xml_batch, true},
    {"json", reader_json, false},
    {"system-reminder", reader_system_reminder, true},
    {"openai", reader_markdown, false},
    {"anthropic", reader_markdown, false},
    {"synthetic-call", reader_call, false},
    {"plain", reader_plain, false},
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Removes the empty line between a part inside the content and the content. */
static struct tidings_span without_separator(struct reader *reader,
                                             const struct reading_part *part) {
  struct tidings_span text = part->text;
  if (part->voice != TIDINGS_VOICE_CARRIER) return text;
  if (part->place == TIDINGS_PLACE_APPEND) {
    if (!reader_skip(&text, "\n\n")) reader_fail(reader, "no empty line before the part");
  } else if (text.len < 2 || memcmp(text.ptr + text.len - 2, "\n\n", 2) != 0) {
    reader_fail(reader, "no empty line after the part");
  } else {
    text.len -= 2;
  }
  return text;
}

/* -- steered messages -------------------------------------------------------------------------- */

/* Removes the tag around a message of the user. False: the part is something else. */
static bool take_steered(const struct reader *reader, struct tidings_span *text) {
  static const char end[] =
      "\n\nPlease address this message and continue with your tasks.\n</system-reminder>";
  struct tidings_span rest = *text;
  if (!reader_skip(&rest, "<system-reminder")) return false;
  if (reader->nonce.len) {
    if (!reader_skip(&rest, " nonce=\"") || rest.len < reader->nonce.len ||
        memcmp(rest.ptr, reader->nonce.ptr, reader->nonce.len) != 0)
      return false;
    rest = span_of(rest.ptr + reader->nonce.len, rest.len - reader->nonce.len);
    if (!reader_skip(&rest, "\"")) return false;
  }
  if (!reader_skip(&rest, ">\nThe user sent the following message:\n") || rest.len < sizeof end - 1)
    return false;
  rest.len -= sizeof end - 1;
  if (memcmp(rest.ptr + rest.len, end, sizeof end - 1) != 0) return false;
  *text = rest;
  return true;
}

static void read_part(struct reader *reader, size_t format, const struct reading_part *part) {
  struct reading *reading = reader->reading;
  struct tidings_span text = without_separator(reader, part);
  if (!utf8_valid(part->text)) reader_fail(reader, "bytes that are not UTF-8");
  if (part->voice == TIDINGS_VOICE_USER || take_steered(reader, &text)) {
    reading->steered[reading->steered_count++] = text;
    return;
  }
  if (reading->steered_count) reader_fail(reader, "a block after what the user says");
  if (reading->line_count && part->voice != TIDINGS_VOICE_TOOL)
    reader_fail(reader, "a second block");
  reader->rest = text;
  reader->entities = formats[format].entities;
  reader->prepended = part->place == TIDINGS_PLACE_PREPEND;
  formats[format].read(reader);
  reader_end_line(reader);
}

int reading_of_parts(const char *format, struct tidings_span nonce,
                     const struct reading_part *parts, size_t count, struct arena *arena,
                     struct reading *ret_reading) {
  struct reading reading = {.steered = arena_array(arena, count + 1, sizeof *reading.steered)};
  struct reader reader = {.reading = &reading, .arena = arena, .nonce = nonce};
  size_t known = 0;
  while (known < FORMATS && strcmp(formats[known].name, format) != 0) known++;
  if (!reading.steered) return -1;
  if (known == FORMATS) reader_fail(&reader, "a format that nobody knows");
  for (size_t i = 0; i < count && reader_is_fine(&reader); i++) {
    reading.bytes += parts[i].text.len;
    read_part(&reader, known, &parts[i]);
  }
  buffer_free(&reader.text);
  if (reader.failed) return -1;
  *ret_reading = reading;
  return 0;
}
