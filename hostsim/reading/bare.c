/* SPDX-License-Identifier: MIT
 *
 * reading/bare.c: whether a line's text says a message, whatever escaping has made of it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/utf8.h"
#include "reading/reader.h"

/* -- without escapes --------------------------------------------------------------------------- */

/* The length of "{U+202E}" or "{0xFF}" at the end of the text; 0: there is none. */
static size_t shown_at_end(struct tidings_span text) {
  size_t len = 1, digits = 0;
  while (len < text.len && isxdigit((unsigned char)text.ptr[text.len - len - 1])) len++, digits++;
  struct tidings_span begin = span_of(text.ptr, text.len - len);
  if (begin.len < 3 || !digits) return 0;
  if (digits >= 4 && memcmp(begin.ptr + begin.len - 3, "{U+", 3) == 0) return len + 3;
  /* The 0 of "0x" is no digit of it, because of the x. */
  return digits == 2 && memcmp(begin.ptr + begin.len - 3, "{0x", 3) == 0 ? len + 3 : 0;
}

/* The length of an entity at the end of the text, and what it stands for; 0: there is none. */
static size_t entity_at_end(struct tidings_span text, char *ret_byte) {
  static const char names[][7] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"}, bytes[] = "<>&\"'";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t len = strlen(names[i]);
    if (text.len < len || memcmp(text.ptr + text.len - len, names[i], len) != 0) continue;
    *ret_byte = bytes[i];
    return len;
  }
  return 0;
}

void reading_write_bare(struct tidings_span text, struct buffer *out) {
  size_t begin = out->len;
  for (size_t i = 0; i < text.len && !out->failed; i++) {
    unsigned char byte = (unsigned char)text.ptr[i];
    if (byte <= ' ' || byte >= 0x7F || byte == '\\') continue;
    buffer_byte(out, (char)byte);
    if (out->failed || (byte != ';' && byte != '}')) continue;
    struct tidings_span written = span_of(out->bytes + begin, out->len - begin);
    char stands_for = '\0';
    out->len -= byte == ';' ? entity_at_end(written, &stands_for) : shown_at_end(written);
    if (stands_for) buffer_byte(out, stands_for);
  }
}

/* -- what is said ------------------------------------------------------------------------------ */

static bool is_same_bare(struct tidings_span text, struct tidings_span message, const char *end,
                         bool *failed) {
  struct buffer one = BUFFER_EMPTY, other = BUFFER_EMPTY;
  reading_write_bare(text, &one);
  reading_write_bare(message, &other);
  reading_write_bare(span_text(end), &other);
  bool same = span_equal(buffer_view(&one), buffer_view(&other));
  *failed = *failed || one.failed || other.failed;
  buffer_free(&one);
  buffer_free(&other);
  return same;
}

static bool take_end(struct tidings_span *text, const char *end) {
  size_t len = strlen(end);
  if (text->len < len || memcmp(text->ptr + text->len - len, end, len) != 0) return false;
  text->len -= len;
  return true;
}

/* Takes "… (12 more bytes)" off the text. False: it does not end so. */
static bool take_cut(struct tidings_span *text, size_t *ret_missing) {
  static const char mark[] = "… (";
  struct tidings_span rest = *text;
  if (!take_end(&rest, " more bytes)")) return false;
  size_t digits = 0, missing = 0, power = 1;
  for (; digits < rest.len && isdigit((unsigned char)rest.ptr[rest.len - digits - 1]); digits++) {
    missing += power * (size_t)(rest.ptr[rest.len - digits - 1] - '0');
    power *= 10;
  }
  rest.len -= digits;
  if (!digits || !take_end(&rest, mark)) return false;
  *ret_missing = missing;
  *text = rest;
  return true;
}

int reading_take_age(struct reading_line *line, struct tidings_span age, struct arena *arena,
                     bool *ret_says) {
  const char *feed = line->text.len ? memchr(line->text.ptr, '\n', line->text.len) : NULL;
  struct tidings_span first =
      feed ? span_of(line->text.ptr, (size_t)(feed - line->text.ptr)) : line->text;
  struct tidings_span after = span_of(first.ptr + first.len, line->text.len - first.len);
  struct buffer out = BUFFER_EMPTY;
  char mark[64];
  *ret_says = span_equal(line->age, age);
  if (*ret_says || !age.len) return 0;
  (void)snprintf(mark, sizeof mark, " (%.*s)", SPAN_FORMAT(age));
  *ret_says = !line->age.len && take_end(&first, mark);
  if (!*ret_says) return 0;
  buffer_span(&out, first);
  buffer_span(&out, after);
  int code = out.failed || arena_copy(arena, buffer_view(&out), &line->text) ? -1 : 0;
  buffer_free(&out);
  return code;
}

int reading_says(struct tidings_span text, struct tidings_span message, size_t times,
                 enum reading_says *ret_says, size_t *ret_shown_len) {
  char end[48] = "";
  bool failed = false;
  size_t missing;
  if (times > 1) (void)snprintf(end, sizeof end, " (%zu times)", times);
  *ret_says = READING_SAYS_OTHER;
  if (is_same_bare(text, message, end, &failed)) {
    *ret_says = READING_SAYS_ALL;
    *ret_shown_len = message.len;
  } else if (take_end(&text, end) && take_cut(&text, &missing) && missing < message.len) {
    size_t shown_len = message.len - missing;
    bool splits = shown_len < message.len && ((unsigned char)message.ptr[shown_len] & 0xC0) == 0x80;
    if (!(splits && utf8_valid(message)) &&
        is_same_bare(text, span_of(message.ptr, shown_len), "", &failed)) {
      *ret_says = READING_SAYS_CUT;
      *ret_shown_len = shown_len;
    }
  }
  return failed ? -1 : 0;
}
