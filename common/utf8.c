/* SPDX-License-Identifier: MIT
 */
#include "common/utf8.h"

#include <stdio.h>

static bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

size_t utf8_decode(struct tidings_span text, size_t at, uint32_t *ret_code_point) {
  if (at >= text.len) return 0;
  const unsigned char *bytes = (const unsigned char *)text.ptr + at;
  size_t left = text.len - at;
  uint32_t first = bytes[0];
  if (first < 0x80) {
    *ret_code_point = first;
    return 1;
  }
  size_t len = first >= 0xC2 && first <= 0xDF   ? 2
               : (first & 0xF0) == 0xE0         ? 3
               : first >= 0xF0 && first <= 0xF4 ? 4
                                                : 0;
  if (!len || len > left) return 0;
  uint32_t code_point = first & (0x7Fu >> len);
  for (size_t i = 1; i < len; i++) {
    if (!is_continuation(bytes[i])) return 0;
    code_point = code_point << 6 | (bytes[i] & 0x3Fu);
  }
  if (len == 3 && (code_point < 0x800 || (code_point >= 0xD800 && code_point <= 0xDFFF))) return 0;
  if (len == 4 && (code_point < 0x10000 || code_point > 0x10FFFF)) return 0;
  *ret_code_point = code_point;
  return len;
}

size_t utf8_encode(uint32_t code_point, char *to) {
  static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0}; /* by length */
  size_t len = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
  for (size_t i = len - 1; i > 0; i--, code_point >>= 6) to[i] = (char)(0x80 | (code_point & 0x3F));
  to[0] = (char)(leads[len] | code_point);
  return len;
}

size_t utf8_valid_length(struct tidings_span text) {
  size_t at = 0;
  while (at < text.len) {
    uint64_t eight;
    if (text.len - at >= sizeof eight) {
      memcpy(&eight, text.ptr + at, sizeof eight);
      if (!(eight & 0x8080808080808080u)) {
        at += sizeof eight;
        continue;
      }
    }
    uint32_t code_point;
    size_t len = utf8_decode(text, at, &code_point);
    if (!len) return at;
    at += len;
  }
  return at;
}

bool utf8_valid(struct tidings_span text) { return utf8_valid_length(text) == text.len; }

size_t utf8_prefix(struct tidings_span text, size_t max) {
  if (text.len <= max) return text.len;
  for (size_t back = 0; back < 4 && back <= max; back++) {
    if (!is_continuation((unsigned char)text.ptr[max - back])) return max - back;
  }
  return max; /* a run of continuation bytes: there is no character to split */
}

size_t utf8_characters(struct tidings_span text, size_t count) {
  size_t at = 0;
  for (; count && at < text.len; count--) {
    uint32_t code_point;
    size_t len = utf8_decode(text, at, &code_point);
    at += len ? len : 1;
  }
  return at;
}

void utf8_repair(struct tidings_span text, struct buffer *out) {
  for (size_t at = 0; at < text.len; at++) {
    size_t valid = utf8_valid_length(span_of(text.ptr + at, text.len - at));
    buffer_append(out, text.ptr + at, valid);
    at += valid;
    if (at < text.len) buffer_text(out, "\xEF\xBF\xBD");
  }
}

bool utf8_is_control(uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
}

/* Deceptive characters, sorted. U+FE0E and U+FE0F (an emoji's text or colour form) are missing,
 * because people write them. */
static const struct {
  uint32_t first, last;
} deceptive_ranges[] = {
    {0x0000, 0x001F},   {0x007F, 0x009F}, {0x00AD, 0x00AD}, {0x034F, 0x034F},   {0x061C, 0x061C},
    {0x115F, 0x1160},   {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F},   {0x3164, 0x3164}, {0xFDD0, 0xFDEF}, {0xFE00, 0xFE0D},   {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB}, {0xFFFE, 0xFFFF}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
    {0xE0000, 0xE0FFF},
};

bool utf8_is_deceptive(uint32_t code_point) {
  if (code_point >= 0x20 && code_point < 0x7F) return false;
  /* Most letters that people write are in one of three gaps of the table. */
  if (code_point > 0xAD && code_point < 0x034F) return false;
  if (code_point > 0x034F && code_point < 0x061C) return false;
  if (code_point > 0x3164 && code_point < 0xFDD0) return false;
  if ((code_point & 0xFFFE) == 0xFFFE) return true; /* noncharacters at the end of every plane */
  size_t low = 0, high = sizeof deceptive_ranges / sizeof *deceptive_ranges;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (code_point > deceptive_ranges[middle].last) {
      low = middle + 1;
    } else if (code_point < deceptive_ranges[middle].first) {
      high = middle;
    } else {
      return true;
    }
  }
  return false;
}

struct utf8_shown utf8_show(struct tidings_span text, size_t at) {
  struct utf8_shown shown = {.text = ""};
  uint32_t code_point;
  int len;
  shown.taken = utf8_decode(text, at, &code_point);
  if (!shown.taken) {
    shown.taken = 1;
    len =
        snprintf(shown.text, sizeof shown.text, "{0x%02X}", (unsigned)(unsigned char)text.ptr[at]);
    shown.len = (size_t)len;
  } else if (utf8_is_deceptive(code_point)) {
    len = snprintf(shown.text, sizeof shown.text, "{U+%04X}", (unsigned)code_point);
    shown.len = (size_t)len;
  } else {
    memcpy(shown.text, text.ptr + at, shown.taken);
    shown.len = shown.taken;
  }
  return shown;
}
