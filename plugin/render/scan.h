/* SPDX-License-Identifier: MIT
 *
 * render/scan.h: helpers that look at a text byte by byte. Private to render/.
 */
#ifndef RENDER_SCAN_H
#define RENDER_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

/* NUL after the end. */
static inline char byte_at(struct tidings_span text, size_t at) {
  if (at >= text.len) return '\0';
  return text.ptr[at];
}

static inline struct tidings_span span_from(struct tidings_span text, size_t at) {
  return span_of(text.ptr + at, text.len - at);
}

static inline bool is_blank(char byte) { return byte == ' ' || byte == '\t'; }

static inline bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

static inline bool is_alphanumeric(char byte) {
  return is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* U+2800 and U+1D159 are symbols by their class, and empty to the eye. */
static inline bool is_space(uint32_t code_point) {
  return code_point == ' ' || code_point == '\t' || code_point == 0xA0 || code_point == 0x1680 ||
         (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x202F ||
         code_point == 0x205F || code_point == 0x2800 || code_point == 0x3000 ||
         code_point == 0x1D159;
}

static inline char lower_case(char byte) {
  if (byte >= 'A' && byte <= 'Z') return (char)(byte - 'A' + 'a');
  return byte;
}

/* Letters in any case; `prefix` in lower case. */
static inline bool starts_with_word(struct tidings_span text, const char *prefix) {
  size_t i = 0;
  while (prefix[i] && lower_case(byte_at(text, i)) == prefix[i]) i++;
  return !prefix[i];
}

#endif
