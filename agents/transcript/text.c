/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/text.c: see the header.
 */
#include "agents/transcript/text.h"

enum { FIRST_PART = 64 << 10 }; /* bytes */

const char *hook_text_find(const char *from, const char *end, struct tidings_span words) {
  return from < end && words.len ? memmem(from, (size_t)(end - from), words.ptr, words.len) : NULL;
}

static const char *find_last_in(const char *from, const char *end, struct tidings_span words) {
  const char *last = NULL;
  while ((from = hook_text_find(from, end, words))) last = from++;
  return last;
}

const char *hook_text_find_last(const char *from, const char *end, struct tidings_span words) {
  size_t len = from < end ? (size_t)(end - from) : 0, done = 0, part = FIRST_PART;
  const char *last = NULL;
  for (; !last && done < len; done = part, part *= 2) {
    size_t over = words.len && words.len - 1 < done ? words.len - 1 : done;
    if (part > len) part = len;
    last = find_last_in(end - part, end - done + over, words);
  }
  return last;
}

const char *hook_text_line_start(const char *text, const char *at) {
  const char *before = memrchr(text, '\n', (size_t)(at - text));
  return before ? before + 1 : text;
}

const char *hook_text_line_end(const char *at, const char *end) {
  const char *line = memchr(at, '\n', (size_t)(end - at));
  return line ? line : end;
}

static bool begins_a_line(const char *text, const char *at) { return at == text || at[-1] == '\n'; }

const char *hook_text_find_line(const char *text, const char *from, const char *end,
                                struct tidings_span words) {
  for (const char *at = from; (at = hook_text_find(at, end, words)); at++) {
    if (begins_a_line(text, at)) return at;
  }
  return NULL;
}

const char *hook_text_find_last_line(const char *text, const char *end, struct tidings_span words) {
  const char *at = end;
  while ((at = hook_text_find_last(text, at, words)) && !begins_a_line(text, at)) continue;
  return at;
}

struct tidings_span hook_text_quoted(const char *at, const char *end, const char *before) {
  size_t len = strlen(before);
  if ((size_t)(end - at) < len || memcmp(at, before, len) != 0) return span_of(at, 0);
  const char *quote = memchr(at + len, '"', (size_t)(end - at) - len);
  return span_of(at, quote ? (size_t)(quote - at) : 0);
}
