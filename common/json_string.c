/* SPDX-License-Identifier: MIT
 *
 * common/json_string.c: reads strings, for the reader of json.h. Decoding never makes a string
 * longer.
 */
#include "common/eight.h"
#include "common/json_reader.h"
#include "common/utf8.h"

static int hex_digit(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

/* Reads four hexadecimal digits at `at`; -1: they are not there. */
static int32_t hex_quad(const char *at, const char *end) {
  if (end - at < 4) return -1;
  int32_t value = 0;
  for (int i = 0; i < 4; i++) {
    int digit = hex_digit(at[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/* Reads the second half of a surrogate pair; -1: it is not there. */
static int32_t low_surrogate(const struct json_reader *reader) {
  if (reader->end - reader->at < 6 || reader->at[0] != '\\' || reader->at[1] != 'u') return -1;
  int32_t low = hex_quad(reader->at + 2, reader->end);
  return low >= 0xDC00 && low <= 0xDFFF ? low : -1;
}

/* reader->at is after "\u". */
static int read_unicode_escape(struct json_reader *reader, bool is_key, char **to) {
  const char *start = reader->at - 2;
  int32_t value = hex_quad(reader->at, reader->end);
  if (value < 0)
    return json_reader_refuse(reader, start, "not JSON: \\u without four hexadecimal digits");
  reader->at += 4;
  if (value == 0 && (is_key || !reader->rules->nul))
    return json_reader_refuse(reader, start, "the NUL character \\u0000 is not allowed,");
  uint32_t code_point = (uint32_t)value;
  if (value >= 0xD800 && value <= 0xDFFF) {
    int32_t low = value <= 0xDBFF ? low_surrogate(reader) : -1;
    if (low < 0 && !reader->rules->halves)
      return json_reader_refuse(reader, start, "not JSON: half of a surrogate pair");
    if (low >= 0) reader->at += 6;
    code_point =
        low < 0 ? 0xFFFD : 0x10000 + (((uint32_t)value - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
  }
  *to += utf8_encode(code_point, *to);
  return 0;
}

/* reader->at is after the backslash. */
static int read_escape(struct json_reader *reader, bool is_key, char **to) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  if (reader->at == reader->end) return json_reader_unexpected(reader, "an escaped character");
  char byte = *reader->at++;
  if (byte == 'u') return read_unicode_escape(reader, is_key, to);
  const char *name = memchr(names, byte, sizeof names - 1);
  if (!name) return json_reader_refuse(reader, reader->at - 2, "not JSON: an unknown escape");
  *(*to)++ = values[name - names];
  return 0;
}

/* Finds the first character that does not stand for itself; `end`: there is none. */
static char *plain_end(char *at, const char *end) {
  while (end - at >= 8) {
    uint64_t eight = eight_at(at);
    uint64_t found = eight_less(eight, 0x20) | eight_equal(eight, '"') | eight_equal(eight, '\\');
    if (found) return at + eight_first(found);
    at += 8;
  }
  while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20) at++;
  return at;
}

int json_reader_string(struct json_reader *reader, bool is_key, struct tidings_span *ret_text) {
  reader->at++;
  char *begin = reader->at, *to = begin;
  for (;;) {
    const char *run = reader->at;
    reader->at = plain_end(reader->at, reader->end);
    size_t len = (size_t)(reader->at - run);
    if (to != run) memmove(to, run, len);
    to += len;
    if (reader->at == reader->end) return json_reader_unexpected(reader, "the end of a string");
    if (json_reader_take(reader, '"')) break;
    if (*reader->at != '\\')
      return json_reader_refuse(reader, reader->at,
                                "not JSON: a control character inside a string");
    reader->at++;
    int code = read_escape(reader, is_key, &to);
    if (code) return code;
  }
  *to = '\0'; /* at most at the place of the closing quote */
  *ret_text = span_of(begin, (size_t)(to - begin));
  return 0;
}
