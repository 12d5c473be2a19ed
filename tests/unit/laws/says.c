/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/says.c: decides whether a line's text is a message, however escaping has changed
 * it.
 */
#include "says.h"

#include <ctype.h>
#include <stdio.h>

#include "common/utf8.h"

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

/* Removes "… (12 more bytes)" from the end of the text. False: the text has no such end. */
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

int says_take_age(struct reading_line *line, struct tidings_span age, struct arena *arena,
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

int says_message(struct tidings_span text, struct tidings_span message, size_t times,
                 enum says *ret_says, size_t *ret_shown_len) {
  char end[48] = "";
  bool failed = false;
  size_t missing;
  if (times > 1) (void)snprintf(end, sizeof end, " (%zu times)", times);
  *ret_says = SAYS_OTHER;
  if (is_same_bare(text, message, end, &failed)) {
    *ret_says = SAYS_ALL;
    *ret_shown_len = message.len;
  } else if (take_end(&text, end) && take_cut(&text, &missing) && missing < message.len) {
    size_t shown_len = message.len - missing;
    bool splits = shown_len < message.len && ((unsigned char)message.ptr[shown_len] & 0xC0) == 0x80;
    if (!(splits && utf8_valid(message)) &&
        is_same_bare(text, span_of(message.ptr, shown_len), "", &failed)) {
      *ret_says = SAYS_CUT;
      *ret_shown_len = shown_len;
    }
  }
  return failed ? -1 : 0;
}
