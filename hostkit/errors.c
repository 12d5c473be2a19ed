/* SPDX-License-Identifier: MIT
 *
 * errors.c: sentences for people. Must not allocate: it also reports that memory ran out.
 */
#include "errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <tidings/hostkit.h>

static size_t text_room(const struct tidings_error *error) {
  size_t end = TIDINGS_SIZE_TO(struct tidings_error, text);
  size_t before = offsetof(struct tidings_error, text);
  size_t size = error->size < end ? error->size : end;
  return size > before ? size - before : 0;
}

/* The longest prefix of text[0..len) that does not end inside a UTF-8 sequence. */
static size_t whole_characters(const char *text, size_t len) {
  size_t start = len;
  while (start > 0 && ((unsigned char)text[start - 1] & 0xC0u) == 0x80u) start--;
  if (start == 0) return len;
  unsigned char lead = (unsigned char)text[start - 1];
  size_t needs = lead >= 0xF0u ? 4 : lead >= 0xE0u ? 3 : lead >= 0xC0u ? 2 : 1;
  return len - (start - 1) < needs ? start - 1 : len;
}

static void write_visible(struct tidings_error *error, const char *text) {
  size_t room = text_room(error);
  if (room == 0) return;
  size_t used = 0;
  for (; *text; text++) {
    unsigned char byte = (unsigned char)*text;
    int control = byte < 0x20 || byte == 0x7F;
    if (used + (control ? 4 : 1) >= room) break;
    if (control) used += (size_t)snprintf(error->text + used, 5, "\\x%02x", byte);
    else error->text[used++] = (char)byte;
  }
  if (*text) used = whole_characters(error->text, used);
  error->text[used] = '\0';
}

void hk_error_write(struct tidings_error *error, int32_t code, const char *format, ...) {
  if (!error) return;
  char text[sizeof error->text];
  va_list args;
  va_start(args, format);
  int len = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (len < 0) text[0] = '\0';
  else if ((size_t)len >= sizeof text) text[whole_characters(text, sizeof text - 1)] = '\0';
  if (error->size >= TIDINGS_SIZE_TO(struct tidings_error, code)) error->code = code;
  write_visible(error, text);
}

int32_t hk_error_copy(struct tidings_error *error, const struct tidings_error *from) {
  return hk_error(error, from->code, "%s", from->text);
}

void hk_error_append(struct tidings_error *error, const char *end) {
  size_t room = error ? text_room(error) : 0;
  size_t end_len = strlen(end);
  if (room <= end_len) return;
  size_t len = strnlen(error->text, room - 1);
  if (len + end_len >= room) len = whole_characters(error->text, room - 1 - end_len);
  memcpy(error->text + len, end, end_len + 1);
}

const char *hostkit_error_name(int32_t code) {
  static const char *const names[] = {
      "TIDINGS_OK",        "TIDINGS_E_INVAL",       "TIDINGS_E_SCHEMA",
      "TIDINGS_E_TOO_BIG", "TIDINGS_E_UNSUPPORTED", "TIDINGS_E_NOT_FOUND",
      "TIDINGS_E_FIRED",   "TIDINGS_E_STATE",       "TIDINGS_E_BUSY",
      "TIDINGS_E_FULL",    "TIDINGS_E_STORE",       "TIDINGS_E_SCHEMA_NEWER",
      "TIDINGS_E_NOMEM",   "TIDINGS_E_CLOSED",
  };
  int32_t count = (int32_t)(sizeof names / sizeof names[0]);
  return code <= 0 && code > -count ? names[-code] : "TIDINGS_E_UNKNOWN";
}
