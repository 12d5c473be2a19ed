/* SPDX-License-Identifier: MIT
 */
#include "render/fold.h"

#include "common/utf8.h"

/* The last place of `sorted` whose value, without its lowest `shift` bits, is at most `wanted`;
 * SIZE_MAX: none. */
static size_t last_up_to(const uint32_t *sorted, size_t count, unsigned shift, uint32_t wanted) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (sorted[middle] >> shift <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

bool fold_is_opener(uint32_t code_point) {
  size_t at = last_up_to(fold_openers, fold_openers_count, 0, code_point);
  return at != SIZE_MAX && fold_openers[at] == code_point;
}

static bool is_decimal_digit(uint32_t code_point) {
  size_t at = last_up_to(fold_zeros, fold_zeros_count, 0, code_point);
  return at != SIZE_MAX && code_point - fold_zeros[at] < 10;
}

static bool breaks_line(uint32_t code_point) {
  return (code_point >= '\n' && code_point <= '\r') || code_point == 0x85 || code_point == 0x2028 ||
         code_point == 0x2029;
}

/* Is it a mark that combines with a Latin or Cyrillic letter in front of it, or with any letter, or
 * one that chooses the form of an emoji? */
static bool combines(uint32_t code_point) {
  return (code_point >= 0x0300 && code_point <= 0x036F) ||
         (code_point >= 0x0483 && code_point <= 0x0489) ||
         (code_point >= 0x1AB0 && code_point <= 0x1AFF) ||
         (code_point >= 0x1DC0 && code_point <= 0x1DFF) ||
         (code_point >= 0x20D0 && code_point <= 0x20FF) ||
         (code_point >= 0xFE20 && code_point <= 0xFE2F) || code_point == 0xFE0E ||
         code_point == 0xFE0F;
}

/* Dashes that UTS 39 has no look for: the rest of Unicode's category Pd, and two lines. */
static bool is_other_dash(uint32_t code_point) {
  static const uint32_t dashes[] = {0x00AF, 0x058A, 0x05BE, 0x1400, 0x1806, 0x23AF, 0x2E17,
                                    0x2E1A, 0x2E3A, 0x2E3B, 0x2E40, 0x2E5D, 0x301C, 0x3030,
                                    0x30A0, 0xFE31, 0xFE32, 0xFE58, 0x10EAD};
  size_t at = last_up_to(dashes, sizeof dashes / sizeof *dashes, 0, code_point);
  return at != SIZE_MAX && dashes[at] == code_point;
}

static void look_up(struct fold *fold) {
  size_t at = last_up_to(fold_table, fold_table_count, 8, fold->literal);
  fold->digit = is_decimal_digit(fold->literal);
  fold->kind = FOLD_OTHER;
  if (at == SIZE_MAX || fold_table[at] >> 8 != fold->literal) {
    if (!is_other_dash(fold->literal)) return;
    fold->kind = FOLD_ASCII;
    fold->look[0] = FOLD_LONG_DASH;
    return;
  }
  unsigned look = fold_table[at] & 0xFF;
  fold->kind = FOLD_ASCII;
  if (look < 0x80) fold->look[0] = (char)look;
  else memcpy(fold->look, fold_strings[look - 0x80], 2);
  fold->digit = fold->digit || is_digit(fold->look[0]);
}

static void classify(struct fold *fold) {
  if (breaks_line(fold->literal)) {
    fold->kind = FOLD_BREAK;
  } else if (is_space(fold->literal)) {
    fold->kind = FOLD_BLANK;
  } else if (utf8_is_deceptive(fold->literal) || combines(fold->literal)) {
    fold->kind = FOLD_UNSEEN;
  } else if (fold->literal < 0x80) {
    fold->kind = FOLD_ASCII;
    fold->look[0] = lower_case((char)fold->literal);
    fold->digit = is_digit(fold->look[0]);
  } else {
    look_up(fold);
  }
}

static bool read_hex(struct tidings_span text, size_t at, size_t digits, uint32_t *ret_value) {
  uint32_t value = 0;
  for (size_t i = 0; i < digits; i++) {
    char byte = lower_case(byte_at(text, at + i));
    if (!is_digit(byte) && (byte < 'a' || byte > 'f')) return false;
    value = value << 4 | (uint32_t)(is_digit(byte) ? byte - '0' : byte - 'a' + 10);
  }
  *ret_value = value;
  return true;
}

static bool is_escaped(struct tidings_span text, size_t at) {
  size_t slashes = 0;
  while (slashes < at && text.ptr[at - slashes - 1] == '\\') slashes++;
  return slashes % 2;
}

/* At a backslash: how long the escape is that begins there; 0: none. */
static size_t read_escape(struct tidings_span text, size_t at, uint32_t *ret_literal) {
  uint32_t low;
  char kind = byte_at(text, at + 1);
  if ((kind != 'u' && kind != 'x' && kind != 'n' && kind != 'r' && kind != 't') ||
      is_escaped(text, at))
    return 0;
  if (kind == 'n' || kind == 'r' || kind == 't') {
    *ret_literal = kind == 't' ? '\t' : '\n';
    return 2;
  }
  if (kind == 'x') return read_hex(text, at + 2, 2, ret_literal) ? 4 : 0;
  if (!read_hex(text, at + 2, 4, ret_literal)) return 0;
  if ((*ret_literal & 0xFC00) != 0xD800) return 6;
  if (byte_at(text, at + 6) != '\\' || byte_at(text, at + 7) != 'u' ||
      !read_hex(text, at + 8, 4, &low) || (low & 0xFC00) != 0xDC00)
    return 6;
  *ret_literal = 0x10000 + ((*ret_literal & 0x3FF) << 10) + (low & 0x3FF);
  return 12;
}

/* A terminal's sequence is not seen: "ESC [ 31 m". */
static size_t read_sequence(struct tidings_span text, size_t at) {
  size_t end = at + 2;
  if (text.ptr[at] != 0x1B || byte_at(text, at + 1) != '[') return 0;
  while (byte_at(text, end) >= 0x20 && byte_at(text, end) <= 0x3F) end++;
  return byte_at(text, end) >= 0x40 && byte_at(text, end) <= 0x7E ? end + 1 - at : 0;
}

struct fold fold_look(struct tidings_span text, size_t at) {
  struct fold fold = {.kind = FOLD_END};
  if (at >= text.len) return fold;
  unsigned char byte = (unsigned char)text.ptr[at];
  fold.taken = 1;
  fold.literal = byte;
  if (byte >= 0x80) {
    size_t len = utf8_decode(text, at, &fold.literal);
    if (!len) {
      fold.kind = FOLD_OTHER;
      return fold;
    }
    fold.taken = len;
  } else if (byte == '\\') {
    size_t len = read_escape(text, at, &fold.literal);
    fold.escaped = len > 0;
    if (len) fold.taken = len;
  } else if (byte == '\r' && byte_at(text, at + 1) == '\n') {
    fold.taken = 2;
  } else if (read_sequence(text, at)) {
    fold.taken = read_sequence(text, at);
  }
  classify(&fold);
  return fold;
}
