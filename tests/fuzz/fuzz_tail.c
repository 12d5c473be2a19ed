/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_tail.c: arbitrary bytes as the output of a command. The shown part is text,
 * bounded, and consists of the output's own words; it is the same in whatever parts the output
 * arrives, and has no masked secrets. The first byte chooses the parts.
 */
#include "fuzz.h"

#include <string.h>

#include "cli/excerpt/excerpt.h"
#include "common/mask.h"
#include "common/plain_text.h"
#include "common/utf8.h"

enum { MOST_BYTES_OF_LAST = EXCERPT_LINES * (LAST_LINE_BYTES * 9 + 4) };

struct shown {
  char *errors, *last;
  uint64_t lines;
};

static struct shown show(struct tidings_span output, size_t part, bool unmasked) {
  static struct excerpt excerpt;
  struct shown shown;
  bool is_long;
  memset(&excerpt, 0, sizeof excerpt);
  excerpt.unmasked = unmasked;
  for (size_t at = 0; at < output.len; at += part)
    excerpt_add(&excerpt, output.ptr + at, output.len - at < part ? output.len - at : part);
  excerpt_end(&excerpt);
  shown.errors = excerpt_errors(&excerpt, EXCERPT_LINES, UINT64_MAX);
  shown.last = excerpt_last(&excerpt, EXCERPT_LINES, &is_long);
  shown.lines = excerpt.lines.number + 1;
  MUST(shown.errors && shown.last, "no memory");
  return shown;
}

static void free_shown(struct shown shown) {
  free(shown.errors);
  free(shown.last);
}

/* -- what is shown ----------------------------------------------------------------------------- */

static void check_text(const char *text, size_t most_lines, size_t most_bytes) {
  size_t lines = text[0] ? 1 : 0;
  MUST(strlen(text) <= most_bytes, "%zu bytes: %s", strlen(text), text);
  MUST(utf8_valid(span_text(text)), "not UTF-8: %s", text);
  for (const char *at = text; *at; at++) {
    lines += *at == '\n';
    MUST((unsigned char)*at >= 0x20 || *at == '\n' || *at == '\t', "a control character: %s", text);
  }
  MUST(lines <= most_lines, "%zu lines: %s", lines, text);
}

/* Does line `number` of the output, as text, have these words? Text before a return to the line's
 * start is forgotten. */
static bool has_words(struct tidings_span output, uint64_t number, struct tidings_span words) {
  struct buffer plain = BUFFER_EMPTY;
  const char *at = output.ptr, *end = output.ptr + output.len;
  for (uint64_t i = 1; i < number && at; i++) {
    at = memchr(at, '\n', (size_t)(end - at));
    if (at) at++;
  }
  MUST(at, "there is no line %llu", (unsigned long long)number);
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  struct tidings_span line = span_of(at, (size_t)((stop ? stop : end) - at));
  plain_text(line, &plain);
  bool has = memchr(line.ptr, '\r', line.len) || line.len > LINE_BYTES || !words.len ||
             memmem(plain.bytes, plain.len, words.ptr, words.len);
  buffer_free(&plain);
  return has;
}

static void check_words(struct tidings_span output, const struct shown *shown) {
  uint64_t before = 0;
  for (const char *at = shown->errors; *at;) {
    char *text = NULL;
    uint64_t number = strtoull(at, &text, 10);
    size_t len = strcspn(at, "\n");
    MUST(number > before && number <= shown->lines && strncmp(text, ": ", 2) == 0, "%s", at);
    struct tidings_span words = span_of(text + 2, len - (size_t)(text + 2 - at));
    const char cut[] = "…";
    if (words.len >= 3 && memcmp(words.ptr + words.len - 3, cut, 3) == 0) words.len -= 3;
    MUST(has_words(output, number, words), "line %llu has not %.*s", (unsigned long long)number,
         SPAN_FORMAT(words));
    before = number;
    at += len;
    if (*at) at++;
  }
}

/* -- what is masked ---------------------------------------------------------------------------- */

static void check_mask(struct tidings_span text) {
  struct buffer once = BUFFER_EMPTY, lines = BUFFER_EMPTY;
  bool in_key = false;
  mask_text(text, &once);
  MUST(!once.failed && once.len <= text.len * sizeof MASK_WORD, "%zu bytes became %zu", text.len,
       once.len);
  for (size_t at = 0; at < text.len;) {
    const char *end = memchr(text.ptr + at, '\n', text.len - at);
    size_t len = end ? (size_t)(end - text.ptr) - at + 1 : text.len - at;
    mask_lines(&in_key, span_of(text.ptr + at, len), &lines);
    at += len;
  }
  MUST(!lines.failed, "no memory");
  buffer_free(&once);
  buffer_free(&lines);
}

/* Checks that a token on a line of its own is masked, whatever comes before it. */
static void check_planted(struct tidings_span text) {
  static const char token[] = "gh"
                              "p_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0";
  struct buffer plain = BUFFER_EMPTY; /* without control characters, as it is shown */
  plain_text(text, &plain);
  MUST(!plain.failed, "no memory");
  bool is_there = memmem(text.ptr, text.len, token, sizeof token - 1) ||
                  memmem(plain.bytes, plain.len, token, sizeof token - 1);
  buffer_free(&plain);
  if (is_there) return; /* perhaps inside a word */
  struct buffer planted = BUFFER_EMPTY, masked = BUFFER_EMPTY;
  buffer_span(&planted, text);
  buffer_format(&planted, "\nError: %s is wrong\n", token);
  mask_text(buffer_view(&planted), &masked);
  struct shown shown = show(buffer_view(&planted), SIZE_MAX, false);
  MUST(!planted.failed && !masked.failed, "no memory");
  MUST(!memmem(masked.bytes, masked.len, token, sizeof token - 1), "the token is there: %.*s",
       SPAN_FORMAT(buffer_view(&masked)));
  MUST(!strstr(shown.errors, token) && !strstr(shown.last, token), "it is shown: %s\n%s",
       shown.errors, shown.last);
  free_shown(shown);
  buffer_free(&planted);
  buffer_free(&masked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  if (!len) return 0;
  struct tidings_span output = span_of((const char *)data + 1, len - 1);
  struct shown whole = show(output, SIZE_MAX, true), parts = show(output, data[0] + 1u, true),
               masked = show(output, data[0] + 1u, false);
  MUST(!strcmp(whole.errors, parts.errors) && !strcmp(whole.last, parts.last),
       "in parts of %u bytes it is another text", data[0] + 1u);
  check_text(whole.errors, FAILURE_LINES, ERROR_BYTES);
  check_text(whole.last, EXCERPT_LINES, MOST_BYTES_OF_LAST);
  check_text(masked.errors, FAILURE_LINES, ERROR_BYTES);
  check_text(masked.last, EXCERPT_LINES, MOST_BYTES_OF_LAST);
  check_words(output, &whole);
  check_mask(output);
  check_planted(output);
  free_shown(whole);
  free_shown(parts);
  free_shown(masked);
  return 0;
}
