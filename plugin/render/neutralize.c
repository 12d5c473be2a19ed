/* SPDX-License-Identifier: MIT
 */
#include "render/neutralize.h"

#include "common/eight.h"
#include "common/utf8.h"
#include "render/lookalike.h"

/* The text to write before or instead of the character at `at`, which looks like <. NULL: it may
 * stay. */
static const char *defuse_tag(enum fences fences, struct tidings_span text, size_t at) {
  bool is_plain = text.ptr[at] == '<', is_escape = text.ptr[at] == '\\';
  if (!is_plain && !is_escape && at && text.ptr[at - 1] == '\\') return NULL;
  bool is_tag = fences == FENCES_ALL ? lookalike_reserved_tag(text, at) : false;
  if (!is_tag && !lookalike_block_tag(text, at)) return NULL;
  return is_plain ? "&lt;" : "\\";
}

/* The same where an escape or a character beyond ASCII begins. */
static const char *defuse_disguised(enum fences fences, struct tidings_span text, size_t at) {
  struct fold fold = fold_at(text, at);
  switch (fold.look[0]) {
  case '<': return defuse_tag(fences, text, at);
  case '"':
  case '_': return lookalike_key(text, at) ? "\\" : NULL;
  default: return NULL;
  }
}

static const char *defuse(enum fences fences, struct tidings_span text, size_t at) {
  uint32_t code_point;
  switch (text.ptr[at]) {
  case '<': return defuse_tag(fences, text, at);
  case '"':
  case '_': return lookalike_key(text, at) ? "\\" : NULL;
  case '\\':
    if (byte_at(text, at + 1) != 'u' && byte_at(text, at + 1) != 'x') return NULL;
    return defuse_disguised(fences, text, at);
  default:
    if (!utf8_decode(text, at, &code_point) || !fold_is_opener(code_point)) return NULL;
    return defuse_disguised(fences, text, at);
  }
}

static bool may_open(char byte) {
  return byte == '<' || byte == '"' || byte == '_' || byte == '\\' ||
         fold_opener_leads[(unsigned char)byte];
}

/* The next byte, before `end`, at which a tag or name could begin; `end`: none. */
static size_t next_opener(struct tidings_span text, size_t at, size_t end) {
  while (end - at >= 8) {
    uint64_t eight = eight_at(text.ptr + at);
    uint64_t found = eight_equal(eight, '<') | eight_equal(eight, '"') | eight_equal(eight, '_') |
                     eight_equal(eight, '\\') | eight_beyond_ascii(eight);
    at += found ? eight_first(found) : 8;
    if (found && may_open(text.ptr[at])) return at;
    while (at < end && (unsigned char)text.ptr[at] >= 0x80 && !may_open(text.ptr[at])) at++;
  }
  while (at < end && !may_open(text.ptr[at])) at++;
  return at;
}

static void write_neutral(enum fences fences, struct tidings_span text, struct buffer *out) {
  (void)buffer_grow(out, text.len);
  for (size_t begin = 0; begin < text.len;) {
    size_t end = lookalike_line_end(text, begin), next = lookalike_line_after(text, end);
    size_t mark = lookalike_line_mark(fences, text, begin, end), written = begin;
    size_t at = begin;
    if (mark != NO_MARK) {
      buffer_append(out, text.ptr + begin, mark - begin);
      buffer_byte(out, '\\');
      written = mark;
      at = mark + 1;
    }
    while ((at = next_opener(text, at, end)) < end) {
      const char *in_front = defuse(fences, text, at++);
      if (!in_front) continue;
      size_t opener = at - 1;
      buffer_append(out, text.ptr + written, opener - written);
      buffer_text(out, in_front);
      written = text.ptr[opener] == '<' ? at : opener;
    }
    buffer_append(out, text.ptr + written, next - written);
    begin = next;
  }
}

void neutralize(struct tidings_span text, struct buffer *out) {
  write_neutral(FENCES_WITH_TITLE, text, out);
}

/* The length of a tab, a soft hyphen or a joiner (U+200C, U+200D) at `at`, without which makefiles,
 * words of some scripts and emoji are others; 0: it is none of them. */
static size_t kept_as_it_is(struct tidings_span text, size_t at) {
  uint32_t code_point;
  if (text.ptr[at] == '\t') return 1;
  size_t len = utf8_decode(text, at, &code_point);
  bool kept = len && (code_point == 0xAD || code_point == 0x200C || code_point == 0x200D);
  return kept ? len : 0;
}

/* The visible text, with LF as the only line break. */
static void write_visible(struct tidings_span text, struct buffer *out) {
  for (size_t at = 0; at < text.len;) {
    char byte = text.ptr[at];
    size_t kept = kept_as_it_is(text, at);
    if (byte == '\n' || byte == '\r') {
      at += byte == '\r' && byte_at(text, at + 1) == '\n' ? 2 : 1;
      buffer_byte(out, '\n');
    } else if (kept) {
      buffer_append(out, text.ptr + at, kept);
      at += kept;
    } else {
      struct utf8_shown shown = utf8_show(text, at);
      buffer_append(out, shown.text, shown.len);
      at += shown.taken;
    }
  }
}

static bool is_trimmed(char byte) { return is_blank(byte) || byte == '\n'; }

/* Takes off empty lines on both sides and blanks at the end. The first line keeps its indentation.
 */
static struct tidings_span trim_lines(struct tidings_span text) {
  size_t begin = 0;
  for (size_t at = 0; at < text.len && is_trimmed(text.ptr[at]); at++) {
    if (text.ptr[at] == '\n') begin = at + 1;
  }
  if (begin) text = span_from(text, begin); /* an empty span may have no address */
  while (text.len && is_trimmed(text.ptr[text.len - 1])) text.len--;
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
