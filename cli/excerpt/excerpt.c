/* SPDX-License-Identifier: MIT
 */
#include "cli/excerpt/excerpt.h"

#include "cli/excerpt/pattern.h"
#include "common/mask.h"
#include "common/utf8.h"

/* Is it a line like "[ 83%] Building", "[12/340] Compiling", "45% |####" or "Downloading 12%"? */
static bool is_progress(struct tidings_span text) {
  static const char *const forms[] = {"[#%]",  "[ #%]",  "[  #%]", "[#/#]", "[#/#/#]",
                                      "(#/#)", "#%",     "#.#%",   "*#% |", "*#%|",
                                      "*#%$",  "*#.#%$", "#/# [*", "#/# ~$"};
  while (text.len && (*text.ptr == ' ' || *text.ptr == '\t'))
    text = span_of(text.ptr + 1, text.len - 1);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (pattern_matches(forms[i], text)) return true;
  }
  return false;
}

/* -- adding ------------------------------------------------------------------------------------ */

static struct last_line *line_back(struct excerpt *excerpt, uint64_t back) {
  return &excerpt->last[(excerpt->last_count - back) % EXCERPT_LINES];
}

static void keep_last(struct excerpt *excerpt, uint64_t number, struct tidings_span text,
                      bool long_line) {
  size_t len = utf8_prefix(text, LAST_LINE_BYTES);
  bool cut = long_line || len < text.len, progress = is_progress(text);
  struct last_line *before = excerpt->last_count ? line_back(excerpt, 1) : NULL;
  bool same = before && before->len == len && before->cut == cut &&
              memcmp(before->text, text.ptr, len) == 0;
  if (same) return;                            /* the first line's number stays */
  bool shows_nothing = before && !before->len; /* such as a long line of NULs */
  if (!shows_nothing && !(before && before->progress && progress)) excerpt->last_count++;
  struct last_line *line = line_back(excerpt, 1);
  *line = (struct last_line){.number = number, .len = len, .cut = cut, .progress = progress};
  memcpy(line->text, text.ptr, len);
}

/* A line is masked before it is cut, because half a secret would not be recognized. */
static void take_line(void *context, uint64_t number, struct tidings_span text, bool long_line) {
  struct excerpt *excerpt = context;
  struct buffer masked = BUFFER_EMPTY;
  if (!excerpt->unmasked && mask_follow(&excerpt->in_key, text)) {
    text = span_text(MASK_WORD);
  } else if (!excerpt->unmasked && text.len > FAILURE_LINE_BYTES) {
    mask_text(text, &masked);
    text = masked.failed ? span_of("", 0) : buffer_view(&masked);
  }
  failure_add(&excerpt->failure, number, text);
  if (text.len || long_line) keep_last(excerpt, number, text, long_line);
  buffer_free(&masked);
}

void excerpt_add(struct excerpt *excerpt, const char *bytes, size_t len) {
  lines_add(&excerpt->lines, bytes, len, take_line, excerpt);
}

void excerpt_end(struct excerpt *excerpt) {
  lines_rest(&excerpt->lines, take_line, excerpt);
  failure_end(&excerpt->failure);
}

/* -- writing ----------------------------------------------------------------------------------- */

static void write_text(const struct excerpt *excerpt, struct tidings_span text, bool cut,
                       struct buffer *out) {
  if (excerpt->unmasked) buffer_span(out, text);
  else mask_text(text, out);
  if (cut) buffer_text(out, "…");
}

static const struct last_line *last_line(const struct excerpt *excerpt, size_t count, size_t i) {
  return &excerpt->last[(excerpt->last_count - count + i) % EXCERPT_LINES];
}

static size_t last_lines(const struct excerpt *excerpt, size_t count) {
  if (count > EXCERPT_LINES) count = EXCERPT_LINES;
  return excerpt->last_count < count ? (size_t)excerpt->last_count : count;
}

char *excerpt_errors(const struct excerpt *excerpt, size_t count, uint64_t log_lines) {
  const struct failure_line *lines[FAILURE_LINES];
  struct buffer out = BUFFER_EMPTY;
  count = last_lines(excerpt, count);
  uint64_t before = count ? last_line(excerpt, count, 0)->number : UINT64_MAX;
  size_t picked = failure_pick(&excerpt->failure, before, lines);
  for (size_t i = 0; i < picked; i++) {
    const struct failure_line *line = lines[i];
    size_t begin = out.len;
    if (begin) buffer_byte(&out, '\n');
    if (line->number <= log_lines) buffer_format(&out, "%llu: ", (unsigned long long)line->number);
    write_text(excerpt, span_of(line->text, line->len), line->cut, &out);
    if (out.len > ERROR_BYTES) out.len = begin;
  }
  return buffer_take(&out);
}

char *excerpt_last(const struct excerpt *excerpt, size_t count, bool *ret_long) {
  struct buffer out = BUFFER_EMPTY;
  count = last_lines(excerpt, count);
  for (size_t i = 0; i < count; i++) {
    const struct last_line *line = last_line(excerpt, count, i);
    if (i) buffer_byte(&out, '\n');
    write_text(excerpt, span_of(line->text, line->len), line->cut, &out);
  }
  *ret_long = count && last_line(excerpt, count, count - 1)->cut;
  return buffer_take(&out);
}
