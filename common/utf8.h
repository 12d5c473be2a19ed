/* SPDX-License-Identifier: MIT
 *
 * common/utf8.h: reads UTF-8 strictly (RFC 3629: no overlong forms, no surrogates, nothing above
 * U+10FFFF).
 */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buffer.h"

/* Decodes the character at text.ptr + at. Returns its length in bytes (1 to 4) and writes the code
 * point; 0 if it is not valid there. */
size_t utf8_decode(struct tidings_span text, size_t at, uint32_t *ret_code_point);
/* Writes the bytes of a code point that is no surrogate. Returns how many: 1 to 4. */
size_t utf8_encode(uint32_t code_point, char *to);
bool utf8_valid(struct tidings_span text);
/* Returns how many bytes at the beginning are valid: text.len if all are. */
size_t utf8_valid_length(struct tidings_span text);
/* Returns the length of the longest prefix of at most `max` bytes that splits no character. */
size_t utf8_prefix(struct tidings_span text, size_t max);
/* Returns how many bytes the first `count` characters have; text.len if there are fewer. */
size_t utf8_characters(struct tidings_span text, size_t count);
/* Appends the text with U+FFFD in the place of each byte that is not UTF-8. */
void utf8_repair(struct tidings_span text, struct buffer *out);
/* Is it a control character (C0, DEL, C1), which a session id must not have? */
bool utf8_is_control(uint32_t code_point);
/* Is it a control character (line feed and tab too), or does it reorder or hide text: bidi,
 * zero-width, tag characters, line and paragraph separators, noncharacters? */
bool utf8_is_deceptive(uint32_t code_point);

/* The character at text.ptr + at as a person may safely see it: itself, {U+202E} if it is
 * deceptive, {0xFF} if it is not UTF-8. `at` must be inside the text. */
struct utf8_shown {
  size_t taken; /* how many bytes of the text it stands for */
  size_t len;   /* the length of .text, which may not be NUL-terminated */
  char text[12];
};
struct utf8_shown utf8_show(struct tidings_span text, size_t at);

#endif
