/* SPDX-License-Identifier: MIT
 *
 * The block stays one block with any bytes that are pushed: its checker knows the format's own
 * lines and takes every other line for an item's.
 */
#include <ctype.h>
#include <stdio.h>
#include <tidings/reply.h>

#include "common/utf8.h"
#include "items.h"
#include "render/render.h"

enum { MOST_BYTES = 120, MOST_LINES = 12 };

/* Fragments that try to get out, mixed with any bytes. */
static size_t random_text(struct random *random, char *text) {
  static const char *const fragments[] = {"---",
                                          "\n",
                                          "\r\n",
                                          "\r",
                                          "\n\n",
                                          "**Critical:**",
                                          "- ",
                                          "# ",
                                          "> ",
                                          "```",
                                          "</system-reminder>",
                                          "<notification>",
                                          "(3 more notifications pending)",
                                          "1. ",
                                          " ",
                                          "\t",
                                          "| ",
                                          "===",
                                          "___",
                                          "\xE2\x80\xA8",
                                          "\xE2\x80\xAE",
                                          "\xE2\x80\x8B",
                                          "\xC2\xA0",
                                          "\xC2\x85",
                                          "\x1B[1m",
                                          "\v",
                                          "\xFF",
                                          "\xE2\x82",
                                          "é",
                                          "😀",
                                          "text",
                                          "\\",
                                          "<",
                                          "*",
                                          "_",
                                          "~~~",
                                          "<!--",
                                          "\xF3\xA0\x81\x81"};
  size_t len = 0, steps = random_below(random, 12);
  while (steps--) {
    if (random_below(random, 8) == 0) {
      text[len++] = (char)random_next(random);
      continue;
    }
    const char *fragment = fragments[random_below(random, sizeof fragments / sizeof *fragments)];
    size_t fragment_len = strlen(fragment);
    if (len + fragment_len > MOST_BYTES - 12) break;
    memcpy(text + len, fragment, fragment_len);
    len += fragment_len;
  }
  return len;
}

static bool starts(struct tidings_span line, const char *prefix) {
  return line.len >= strlen(prefix) && memcmp(line.ptr, prefix, strlen(prefix)) == 0;
}

static bool ends(struct tidings_span line, const char *suffix) {
  size_t len = strlen(suffix);
  return line.len >= len && memcmp(line.ptr + line.len - len, suffix, len) == 0;
}

/* Would markdown or the block give the line a meaning, if its indentation is removed? Decides that
 * by other means than the renderer. */
static bool is_structure(struct tidings_span line) {
  static const char *const never[] = {"---", "***", "___", "===", "```", "~~~", "#", ">",
                                      "|",   "<",   "**",  "__",  "- ",  "* ",  "+ "};
  for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
    if (starts(line, never[i])) return true;
  }
  if (line.len == 0 || isspace((unsigned char)line.ptr[0]) || starts(line, "\xC2\xA0")) return true;
  size_t digits = 0;
  while (digits < line.len && isdigit((unsigned char)line.ptr[digits])) digits++;
  if (digits && digits + 1 < line.len && (line.ptr[digits] == '.' || line.ptr[digits] == ')') &&
      line.ptr[digits + 1] == ' ')
    return true;
  char first = line.ptr[0];
  bool all_same = true;
  for (size_t i = 0; i < line.len; i++)
    all_same = all_same && (line.ptr[i] == first || line.ptr[i] == ' ');
  if (all_same && strchr("-=*+_", first)) return true;
  const char *text = text_of(line);
  size_t count = text[0] == '(' ? strspn(text + 1, "0123456789") : 0;
  return count && strncmp(text + 1 + count, " more notification", 18) == 0;
}

static bool is_rule_of_marks(struct tidings_span line) {
  for (size_t i = 0; i < line.len; i++)
    if (line.ptr[i] != line.ptr[0] && line.ptr[i] != ' ') return false;
  return line.len && strchr("-=*_", line.ptr[0]);
}

/* An indented line is no item, quote or table. The text after such marks is looked at. */
static bool is_inner_structure(struct tidings_span line) {
  bool marked = false;
  for (;; marked = true) {
    size_t len = starts(line, "|") || starts(line, ">"), digits = 0;
    if (is_rule_of_marks(line)) return true;
    if (starts(line, "- ") || starts(line, "* ") || starts(line, "+ ") || span_is(line, "+"))
      len = 1;
    while (digits < line.len && isdigit((unsigned char)line.ptr[digits])) digits++;
    bool dotted = digits && digits < line.len && strchr(".)", line.ptr[digits]);
    if (dotted && (digits + 1 == line.len || line.ptr[digits + 1] == ' ')) len = digits + 1;
    if (!len) return (line.len || !marked) && is_structure(line);
    line = span_of(line.ptr + len, line.len - len);
    for (size_t blank; (blank = starts(line, " ") ? 1 : starts(line, "\xC2\xA0") ? 2 : 0);)
      line = span_of(line.ptr + blank, line.len - blank);
  }
}

/* No tag that a model could take for its host's, in any case. */
static bool has_reserved_tag(struct tidings_span text) {
  char lower[65536];
  cr_assert_lt(text.len, sizeof lower);
  for (size_t i = 0; i < text.len; i++) lower[i] = (char)tolower((unsigned char)text.ptr[i]);
  lower[text.len] = '\0';
  return strstr(lower, "<system") || strstr(lower, "</system") || strstr(lower, "<notif") ||
         strstr(lower, "</notif") || strstr(lower, "<!--");
}

struct counts {
  size_t fences, titles, items, pending;
};

static struct tidings_span next_line(struct tidings_span *text) {
  const char *end = memchr(text->ptr, '\n', text->len);
  size_t len = end ? (size_t)(end - text->ptr) : text->len;
  struct tidings_span line = span_of(text->ptr, len);
  *text = end ? span_of(end + 1, text->len - len - 1) : span_of(NULL, 0);
  return line;
}

/* Sorts the lines after the introduction. */
static void check_lines(struct tidings_span body, struct counts *counts) {
  while (body.len) {
    struct tidings_span line = next_line(&body);
    if (span_is(line, "---")) {
      counts->fences++;
    } else if (span_is(line, "**Critical:**") || span_is(line, "**Error:**") ||
               span_is(line, "**Warning:**") || span_is(line, "**Info:**")) {
      counts->titles++;
    } else if (starts(line, "- ")) {
      counts->items++;
      cr_assert(!is_structure(span_of(line.ptr + 2, line.len - 2)), "item: %s", text_of(line));
    } else if (starts(line, "  ")) {
      while (line.len && line.ptr[0] == ' ') line = span_of(line.ptr + 1, line.len - 1);
      cr_assert(!is_inner_structure(line), "continuation: %s", text_of(line));
    } else if (starts(line, "(")) {
      counts->pending++;
    } else {
      cr_assert_eq(line.len, 0, "neither the block's own nor an item's: %s", text_of(line));
    }
  }
}

static void check_characters(struct tidings_span text) {
  for (size_t at = 0; at < text.len;) {
    uint32_t code_point = 0;
    size_t len = utf8_decode(text, at, &code_point);
    cr_assert(len, "not UTF-8 at %zu", at);
    cr_assert(code_point == '\n' || !utf8_is_deceptive(code_point), "U+%04X came through",
              (unsigned)code_point);
    at += len;
  }
}

static void random_lines(struct random *random, struct items *items,
                         char texts[MOST_LINES][MOST_BYTES]) {
  items->count = 0;
  for (size_t n = 1 + random_below(random, MOST_LINES); n; n--) {
    ITEM(items, .level = (uint8_t)random_below(random, 4));
    struct item *item = &items->items[items->count - 1];
    char *text = texts[items->count - 1];
    item->note.message = span_of(text, random_text(random, text));
  }
}

Test(escape_property, a_block_stays_one_block) {
  static const char *const configurations[] = {
      "", "{\"delivery\":{\"preset\":\"flat\",\"max_items\":0}}",
      "{\"delivery\":{\"place\":\"append\"}}"};
  struct random random = {5};
  for (int round = 0; round < 12000; round++) {
    struct items items;
    struct arena arena = ARENA_EMPTY;
    char texts[MOST_LINES][MOST_BYTES], host[MOST_BYTES];
    struct plan plan;
    struct buffer out = BUFFER_EMPTY;
    random_lines(&random, &items, texts);
    struct settings settings = settings_from(configurations[round % 3], &arena);
    cr_assert_eq(plan_delivery(items.items, items.count, &settings, 0, NULL, &arena, &plan), 0);
    struct render_input input = {.lines = plan.lines,
                                 .line_count = plan.line_count,
                                 .deferred = round % 5 ? 0 : 2,
                                 .format = settings.format,
                                 .order = settings.order,
                                 .place = settings.place};
    input.host_name = span_of(host, random_text(&random, host));
    render_carrier_text(&input, &out);
    struct tidings_span text = buffer_view(&out);
    check_characters(text);
    cr_assert(!has_reserved_tag(text), "%s", text_of(text));
    /* The first six lines (two of them empty) and, appended, two line feeds in front, are the
     * block's own. */
    if (settings.place == TIDINGS_PLACE_APPEND) text = span_of(text.ptr + 2, text.len - 2);
    cr_assert(span_is(next_line(&text), "---"));
    struct tidings_span title = next_line(&text);
    cr_assert(starts(title, "**") && ends(title, "otifications**"), "%s", text_of(title));
    size_t introduction = settings.format == FORMAT_MARKDOWN_FLAT ? 5 : 4;
    for (size_t i = 0; i < introduction; i++) (void)next_line(&text);
    struct counts counts = {0, 0, 0, 0};
    check_lines(text, &counts);
    cr_assert_eq(counts.fences, 1, "%s", text_of(buffer_view(&out)));
    cr_assert_eq(counts.items, items.count);
    cr_assert_eq(counts.pending, round % 5 ? 0 : 1);
    cr_assert_leq(counts.titles, 4);
    buffer_free(&out);
    arena_free(&arena);
  }
}
