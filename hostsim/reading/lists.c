/* SPDX-License-Identifier: MIT
 *
 * reading/lists.c: the formats that are one list: markdown, markdown-flat, openai and anthropic
 * between fences, system-reminder and xml-batch between tags.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tidings/abi.h>

#include "reading/reader.h"

struct list {
  struct tidings_span closing; /* the line that ends the block */
  bool grouped;                /* each level has a title */
  /* Removes the marks between the bullet and the text, and notes them in the line. */
  bool (*take_head)(struct reader *reader, struct tidings_span *text, struct reading_line *line);
};

/* -- items ------------------------------------------------------------------------------------- */

static int level_of_title(struct tidings_span line) {
  static const char *const titles[] = {"**Info:**", "**Warning:**", "**Error:**", "**Critical:**"};
  static const char *const bare[] = {"Info:", "Warning:", "Error:", "Critical:"};
  for (int level = 0; level < 4; level++)
    if (span_is(line, titles[level]) || span_is(line, bare[level])) return level;
  return -1;
}

static void read_item(struct reader *reader, const struct list *list, int level,
                      struct tidings_span text) {
  struct reading_line line = {.least = TIDINGS_LEVEL_INFO, .most = TIDINGS_LEVEL_CRITICAL};
  if (list->grouped && level < 0) reader_fail(reader, "an item without a title");
  if (list->grouped) line.least = line.most = (uint8_t)(level < 0 ? 0 : level);
  if (list->take_head && !list->take_head(reader, &text, &line))
    reader_fail(reader, "an item without its head");
  reader_begin_line(reader, line, text);
}

/* Reads items from the first title or item on. */
static void read_items(struct reader *reader, const struct list *list) {
  struct tidings_span line;
  size_t empty = 0;
  int level = -1, titled = -1;
  while (reader_is_fine(reader) && reader_take_line(reader, &line)) {
    struct tidings_span text = line;
    if (!line.len) {
      empty++;
      continue;
    }
    if (reader->is_open && reader_skip(&text, "  ")) {
      reader_continue_line(reader, empty, text);
    } else if (list->closing.len && span_equal(line, list->closing)) {
      reader_end_line(reader);
      if (reader->rest.len || empty) reader_fail(reader, "text after the block's end");
      return;
    } else if (reader->reading->waiting) {
      reader_fail(reader, "text after the count of what is pending");
    } else if (!reader->reading->line_count || list->grouped ? false : empty > 0) {
      reader_fail(reader, "an empty line in a list");
    } else if (reader_skip(&text, "- ")) {
      read_item(reader, list, level, text);
    } else if (list->grouped && (titled = level_of_title(line)) >= 0) {
      if (level >= 0 && titled >= level) reader_fail(reader, "levels out of order");
      if (empty > 1) reader_fail(reader, "empty lines before a title");
      reader_end_line(reader);
      level = titled;
    } else if (!reader_is_pending_line(reader, line)) {
      reader_fail(reader, "a line that is no item");
    } else {
      reader_end_line(reader);
    }
    empty = 0;
  }
  reader_end_line(reader);
  if (list->closing.len || empty) reader_fail(reader, "a block without its end");
}

static bool is_list_begin(struct tidings_span line) {
  return reader_skip(&line, "- ") || level_of_title(line) >= 0;
}

/* Skips the paragraph before the list, if there is one, and the empty lines around it. */
static void skip_preamble(struct reader *reader) {
  struct tidings_span line, before = reader->rest;
  bool inside = false, over = false;
  while (reader_is_fine(reader) && reader_take_line(reader, &line)) {
    if (!inside && is_list_begin(line)) {
      reader->rest = before;
      return;
    }
    over = over || (inside && !line.len);
    if (line.len && over) reader_fail(reader, "text between the preamble and the list");
    if (line.len && !inside && !reader_skip(&line, "These are automated system messages from "))
      reader_fail(reader, "a preamble that is none");
    inside = line.len > 0;
    before = reader->rest;
  }
}

/* -- between fences ---------------------------------------------------------------------------- */

static void expect_line(struct reader *reader, struct tidings_span expected, const char *problem) {
  struct tidings_span line;
  if (!reader_take_line(reader, &line) || !span_equal(line, expected)) reader_fail(reader, problem);
}

/* Returns the fence, "---", with the nonce if there is one; in the arena. */
static struct tidings_span fence_of(struct reader *reader) {
  struct buffer text = BUFFER_EMPTY;
  struct tidings_span fence = {NULL, 0};
  buffer_text(&text, "---");
  if (reader->nonce.len) buffer_byte(&text, ' ');
  buffer_span(&text, reader->nonce);
  if (text.failed || arena_copy(reader->arena, buffer_view(&text), &fence)) reader->failed = true;
  buffer_free(&text);
  return fence;
}

static bool ends_with(struct tidings_span text, const char *end) {
  size_t len = strlen(end);
  return text.len >= len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

static void read_fenced(struct reader *reader, const char *title, bool grouped) {
  struct tidings_span line = {NULL, 0};
  struct list list = {.closing = fence_of(reader), .grouped = grouped};
  expect_line(reader, list.closing, "a block without its fence");
  if (!reader_take_line(reader, &line) || !reader_skip(&line, "**") || !ends_with(line, title))
    reader_fail(reader, "a block without its title");
  skip_preamble(reader);
  read_items(reader, &list);
}

void reader_markdown(struct reader *reader) { read_fenced(reader, "System Notifications**", true); }

void reader_markdown_flat(struct reader *reader) {
  read_fenced(reader, "system notifications**", false);
}

/* Removes "[error ci] ", "[slack] ", "[error] ", or nothing. */
static bool take_level_and_source(struct reader *reader, struct tidings_span *text,
                                  struct reading_line *line) {
  (void)reader;
  static const char *const levels[] = {"info", "warning", "error", "critical"};
  struct tidings_span rest = *text;
  size_t len = 0;
  line->least = line->most = TIDINGS_LEVEL_INFO;
  if (!reader_skip(&rest, "[")) return true;
  while (len < rest.len && rest.ptr[len] != ']') len += rest.ptr[len] == '\\' ? 2 : 1;
  if (len >= rest.len) return true;
  struct tidings_span mark = span_of(rest.ptr, len);
  rest = span_of(rest.ptr + len, rest.len - len);
  if (!reader_skip(&rest, "] ")) return true;
  if (mark.len > 10 && memcmp(mark.ptr, "Subagent '", 10) == 0)
    return true; /* this text has the source, perhaps with an age */
  for (uint8_t level = 0; level < 4; level++) {
    struct tidings_span after = mark;
    if (!reader_skip(&after, levels[level]) || (after.len && !reader_skip(&after, " "))) continue;
    line->least = line->most = level;
    mark = after;
    break;
  }
  line->source = mark;
  *text = rest;
  return true;
}

/* Reads a heading and a list, which has an end mark only if text follows. */
void reader_plain(struct reader *reader) {
  char header[128];
  struct list list = {.take_head = take_level_and_source};
  (void)snprintf(header, sizeof header,
                 "While you worked (not from the user%s%.*s):", reader->nonce.len ? ", nonce " : "",
                 SPAN_FORMAT(reader->nonce));
  expect_line(reader, span_text(header), "a block without its header");
  if (reader->prepended) list.closing = fence_of(reader);
  else if (reader->rest.len && reader->rest.ptr[reader->rest.len - 1] == '\n')
    reader_fail(reader, "an empty line at the end");
  read_items(reader, &list);
}

/* -- between tags ------------------------------------------------------------------------------ */

static bool take_level(struct reader *reader, struct tidings_span *text,
                       struct reading_line *line) {
  (void)reader;
  if (!reader_skip_level(text, &line->least)) return false;
  line->most = line->least;
  return true;
}

/* Removes "[source] ", whose brackets have backslashes, and "[critical] ". */
static bool take_source(struct reader *reader, struct tidings_span *text,
                        struct reading_line *line) {
  size_t len = 0;
  if (!reader_skip(text, "[")) return false;
  while (len < text->len && text->ptr[len] != ']') len += text->ptr[len] == '\\' ? 2 : 1;
  if (len >= text->len) return false;
  line->source = reader_without_entities(reader, span_of(text->ptr, len));
  *text = span_of(text->ptr + len, text->len - len);
  if (!reader_skip(text, "] ")) return false;
  line->least = TIDINGS_LEVEL_INFO;
  line->most = TIDINGS_LEVEL_ERROR;
  if (reader_skip(text, "[critical] ")) line->least = line->most = TIDINGS_LEVEL_CRITICAL;
  return true;
}

/* Expects the nonce as the last attribute of an opening tag. */
static void expect_nonce(struct reader *reader, struct tidings_span tag) {
  char attribute[128];
  (void)snprintf(attribute, sizeof attribute, " nonce=\"%.*s\">", SPAN_FORMAT(reader->nonce));
  if (!ends_with(tag, reader->nonce.len ? attribute : ">"))
    reader_fail(reader, "an opening tag that does not end as it should");
}

void reader_system_reminder(struct reader *reader) {
  struct tidings_span tag = {NULL, 0};
  struct list list = {.closing = span_text("</system-reminder>"), .take_head = take_level};
  struct tidings_span begin;
  if (reader_take_line(reader, &tag)) expect_nonce(reader, tag);
  begin = tag;
  if (!reader_skip(&begin, "<system-reminder")) reader_fail(reader, "a block without its tag");
  skip_preamble(reader);
  read_items(reader, &list);
}

static size_t take_number(struct reader *reader, struct tidings_span *text, const char *before) {
  char *end;
  if (!reader_skip(text, before)) return 0;
  size_t number = strtoul(text->ptr, &end, 10), len = (size_t)(end - text->ptr);
  *text = span_of(end, text->len - len);
  if (!reader_skip(text, "\"") || !number) reader_fail(reader, "an attribute that is no number");
  return number;
}

void reader_xml_batch(struct reader *reader) {
  struct tidings_span tag = {NULL, 0};
  struct reading *reading = reader->reading;
  struct list list = {.closing = span_text("</notifications>"), .take_head = take_source};
  if (reader_take_line(reader, &tag)) expect_nonce(reader, tag);
  if (!reader_skip(&tag, "<notifications")) reader_fail(reader, "a block without its tag");
  size_t count = take_number(reader, &tag, " count=\"");
  if (!count) {
    reading->showing = take_number(reader, &tag, " showing=\"");
    reading->total = take_number(reader, &tag, " total=\"");
  }
  read_items(reader, &list);
  if (count ? count != reading->line_count : !reading->showing)
    reader_fail(reader, "a count that is not that of the lines");
}
