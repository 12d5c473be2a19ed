/* SPDX-License-Identifier: MIT
 */
#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/utf8.h"

#undef fail

static const char ellipsis[] = "…";
enum { ELLIPSIS_LEN = sizeof ellipsis - 1, QUOTED_BYTES = 80 };

/* Copies as many characters as fit, in a form that is safe to show, with an ellipsis if some are
 * left out. `room` includes the NUL. */
static void copy_shown(struct tidings_span from, char *to, size_t room) {
  size_t len = 0, at = 0, cut = 0; /* cut: the place for an ellipsis */
  while (at < from.len) {
    struct utf8_shown shown = utf8_show(from, at);
    if (len + shown.len >= room) break;
    memcpy(to + len, shown.text, shown.len);
    len += shown.len;
    at += shown.taken;
    if (len + ELLIPSIS_LEN < room) cut = len;
  }
  if (at < from.len && room > ELLIPSIS_LEN) {
    memcpy(to + cut, ellipsis, ELLIPSIS_LEN);
    len = cut + ELLIPSIS_LEN;
  }
  to[len] = '\0';
}

int fail(struct tidings_error *error, int code, const char *format, ...) {
  if (!error || error->size < offsetof(struct tidings_error, text)) return code;
  error->code = code;
  size_t end = TIDINGS_SIZE_TO(struct tidings_error, text);
  size_t room = (error->size < end ? error->size : end) - offsetof(struct tidings_error, text);
  if (!room) return code;

  char sentence[2048];
  va_list args;
  va_start(args, format);
  int len = vsnprintf(sentence, sizeof sentence, format, args);
  va_end(args);
  if (len < 0) len = 0;
  size_t whole = (size_t)len < sizeof sentence ? (size_t)len : sizeof sentence - 1;
  copy_shown(span_of(sentence, whole), error->text, room);
  return code;
}

int fail_as(struct tidings_error *theirs, int code, const struct tidings_error *own) {
  return code ? fail(theirs, code, "%s", own->text) : 0;
}

struct quoted quote(struct tidings_span span) {
  struct quoted quoted;
  size_t len = 0, at = 0;
  size_t end = utf8_prefix(span, QUOTED_BYTES);
  const size_t room = sizeof quoted.text - ELLIPSIS_LEN -
                      2; /* the ellipsis, the closing mark and the NUL always fit */
  quoted.text[len++] = '"';
  while (at < end) {
    struct utf8_shown shown = utf8_show(span, at);
    char byte = shown.text[0];
    bool marked = shown.len == 1 && (byte == '"' || byte == '\\');
    if (len + shown.len + marked > room) break;
    if (marked) quoted.text[len++] = '\\';
    memcpy(quoted.text + len, shown.text, shown.len);
    len += shown.len;
    at += shown.taken;
  }
  if (at < span.len) {
    memcpy(quoted.text + len, ellipsis, ELLIPSIS_LEN);
    len += ELLIPSIS_LEN;
  }
  quoted.text[len++] = '"';
  quoted.text[len] = '\0';
  return quoted;
}
