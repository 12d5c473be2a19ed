/* SPDX-License-Identifier: MIT
 *
 * render/neutralize.c: see neutralize.h.
 */
#include "render/neutralize.h"

#include "common/utf8.h"
#include "render/lookalike.h"

/* In a line that ends at `end`: what to write in front of, or instead of, the byte at `at`; NULL:
 * nothing. */
static const char *defuse(enum fences fences, struct tidings_span text, size_t at, size_t end) {
  switch (text.ptr[at]) {
  case '<':
    if (fences == FENCES_ALL && lookalike_reserved_tag(span_of(text.ptr + at, end - at)))
      return "&lt;";
    return lookalike_block_tag(text, at) ? "&lt;" : NULL;
  case '"':
  case '_': return lookalike_key(text, at) ? "\\" : NULL;
  default: return NULL;
  }
}

static void write_neutral(enum fences fences, struct tidings_span text, struct buffer *out) {
  for (size_t begin = 0; begin < text.len;) {
    size_t end = lookalike_line_end(text, begin), next = lookalike_line_after(text, end);
    size_t mark = lookalike_line_mark(fences, text, begin, end), written = begin;
    for (size_t at = begin; at < end; at++) {
      const char *in_front = at == mark ? "\\" : defuse(fences, text, at, end);
      if (!in_front) continue;
      buffer_append(out, text.ptr + written, at - written);
      buffer_text(out, in_front);
      written = text.ptr[at] == '<' ? at + 1 : at;
    }
    buffer_append(out, text.ptr + written, next - written);
    begin = next;
  }
}

void neutralize(struct tidings_span text, struct buffer *out) {
  write_neutral(FENCES_WITH_TITLE, text, out);
}

/* What can be seen, with LF as the only line break. */
static void write_visible(struct tidings_span text, struct buffer *out) {
  for (size_t at = 0; at < text.len;) {
    char byte = text.ptr[at];
    if (byte == '\n' || byte == '\r') {
      at += byte == '\r' && byte_at(text, at + 1) == '\n' ? 2 : 1;
      buffer_byte(out, '\n');
    } else if (byte == '\t') {
      at++;
      buffer_text(out, "    ");
    } else {
      struct utf8_shown shown = utf8_show(text, at);
      buffer_append(out, shown.text, shown.len);
      at += shown.taken;
    }
  }
}

/* Without empty lines before and after, and without blanks at the end. The first line keeps its
 * indentation. */
static struct tidings_span trim_lines(struct tidings_span text) {
  size_t begin = 0;
  for (size_t at = 0; at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\n'); at++) {
    if (text.ptr[at] == '\n') begin = at + 1;
  }
  if (begin) text = span_from(text, begin); /* an empty one may be at no address */
  while (text.len && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\n')) text.len--;
  return text;
}

void neutralize_message(struct tidings_span text, struct buffer *out) {
  struct buffer visible = BUFFER_EMPTY;
  write_visible(text, &visible);
  struct tidings_span trimmed = trim_lines(buffer_view(&visible));
  if (trimmed.len) write_neutral(FENCES_ALL, trimmed, out);
  else buffer_text(out, "(empty)");
  if (visible.failed) out->failed = true;
  buffer_free(&visible);
}
