/* SPDX-License-Identifier: MIT
 *
 * common/json_read.c: the reader of json.h. It copies the input once and decodes strings in place,
 * which never makes them longer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"

struct open_value {
  struct json *json;
  const struct json **tail; /* where the next member goes */
};

struct reader {
  struct tidings_span original; /* for positions: the copy changes while it is read */
  char *begin, *at, *end;
  struct arena *arena;
  const char *what;
  struct tidings_error *error;
  struct open_value open[JSON_MAX_DEPTH];
  size_t depth;
};

static struct tidings_span rest(const struct reader *reader) {
  return span_of(reader->at, (size_t)(reader->end - reader->at));
}

/* The sentence names line and column, counted in characters from 1. */
static int refuse(const struct reader *reader, int code, const char *at, const char *problem) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < (size_t)(at - reader->begin); i++) {
    unsigned char byte = (unsigned char)reader->original.ptr[i];
    if (byte == '\n') {
      line++;
      column = 1;
    } else if ((byte & 0xC0) != 0x80) {
      column++;
    }
  }
  return fail(reader->error, code, "%s: %s at line %zu, column %zu", reader->what, problem, line,
              column);
}

static int not_json(const struct reader *reader, const char *at, const char *problem) {
  return refuse(reader, TIDINGS_E_INVAL, at, problem);
}

/* Says what was found where something else was needed. */
static int unexpected(const struct reader *reader, const char *expected) {
  if (reader->at == reader->end)
    return fail(reader->error, TIDINGS_E_INVAL, "%s: not JSON: it ends where %s was expected",
                reader->what, expected);
  struct tidings_span found = rest(reader);
  char problem[640];
  found.len = utf8_characters(found, 1);
  (void)snprintf(problem, sizeof problem, "not JSON: %s where %s was expected", quote(found).text,
                 expected);
  return not_json(reader, reader->at, problem);
}

static int no_memory(const struct reader *reader) {
  return fail(reader->error, TIDINGS_E_NOMEM, "%s: no memory to read it", reader->what);
}

static void skip_space(struct reader *reader) {
  while (reader->at < reader->end &&
         (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\r' || *reader->at == '\t'))
    reader->at++;
}

static bool take(struct reader *reader, char byte) {
  if (reader->at == reader->end || *reader->at != byte) return false;
  reader->at++;
  return true;
}

static int hex_digit(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

/* Four hexadecimal digits at `at`, or -1. */
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

static char *encode_utf8(char *to, uint32_t code_point) {
  unsigned char *out = (unsigned char *)to;
  if (code_point < 0x80) {
    *out++ = (unsigned char)code_point;
  } else if (code_point < 0x800) {
    *out++ = (unsigned char)(0xC0 | code_point >> 6);
    *out++ = (unsigned char)(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    *out++ = (unsigned char)(0xE0 | code_point >> 12);
    *out++ = (unsigned char)(0x80 | (code_point >> 6 & 0x3F));
    *out++ = (unsigned char)(0x80 | (code_point & 0x3F));
  } else {
    *out++ = (unsigned char)(0xF0 | code_point >> 18);
    *out++ = (unsigned char)(0x80 | (code_point >> 12 & 0x3F));
    *out++ = (unsigned char)(0x80 | (code_point >> 6 & 0x3F));
    *out++ = (unsigned char)(0x80 | (code_point & 0x3F));
  }
  return (char *)out;
}

/* The second half of a surrogate pair, or -1. */
static int32_t low_surrogate(const struct reader *reader) {
  if (reader->end - reader->at < 6 || reader->at[0] != '\\' || reader->at[1] != 'u') return -1;
  int32_t low = hex_quad(reader->at + 2, reader->end);
  return low >= 0xDC00 && low <= 0xDFFF ? low : -1;
}

/* reader->at is behind "\u". */
static int read_unicode_escape(struct reader *reader, char **to) {
  const char *start = reader->at - 2;
  int32_t value = hex_quad(reader->at, reader->end);
  if (value < 0) return not_json(reader, start, "not JSON: \\u without four hexadecimal digits");
  reader->at += 4;
  if (value == 0) return not_json(reader, start, "the NUL character \\u0000 is not allowed,");
  uint32_t code_point = (uint32_t)value;
  if (value >= 0xD800 && value <= 0xDFFF) {
    int32_t low = value <= 0xDBFF ? low_surrogate(reader) : -1;
    if (low < 0) return not_json(reader, start, "not JSON: half of a surrogate pair");
    reader->at += 6;
    code_point = 0x10000 + (((uint32_t)value - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
  }
  *to = encode_utf8(*to, code_point);
  return 0;
}

/* reader->at is behind the backslash. */
static int read_escape(struct reader *reader, char **to) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  if (reader->at == reader->end) return unexpected(reader, "an escaped character");
  char byte = *reader->at++;
  if (byte == 'u') return read_unicode_escape(reader, to);
  const char *name = memchr(names, byte, sizeof names - 1);
  if (!name) return not_json(reader, reader->at - 2, "not JSON: an unknown escape");
  *(*to)++ = values[name - names];
  return 0;
}

static int read_string(struct reader *reader, struct tidings_span *ret_text) {
  reader->at++;
  char *begin = reader->at, *to = begin;
  for (;;) {
    const char *run = reader->at;
    while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\' &&
           (unsigned char)*reader->at >= 0x20)
      reader->at++;
    size_t len = (size_t)(reader->at - run);
    if (to != run) memmove(to, run, len);
    to += len;
    if (reader->at == reader->end) return unexpected(reader, "the end of a string");
    if (take(reader, '"')) break;
    if (*reader->at != '\\')
      return not_json(reader, reader->at, "not JSON: a control character inside a string");
    reader->at++;
    int code = read_escape(reader, &to);
    if (code) return code;
  }
  *ret_text = span_of(begin, (size_t)(to - begin));
  return 0;
}

static size_t skip_digits(struct reader *reader) {
  const char *begin = reader->at;
  while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9') reader->at++;
  return (size_t)(reader->at - begin);
}

/* The power of ten just above a number's absolute value, so that 0.05 gives -1 and 120 gives 3; 0
 * for zero. */
static int64_t magnitude(struct tidings_span number) {
  int64_t point = -1, digits = 0, first = -1, exponent = 0; /* all in digits from the left */
  bool negative = false;
  size_t at = 0;
  for (; at < number.len && number.ptr[at] != 'e' && number.ptr[at] != 'E'; at++) {
    char byte = number.ptr[at];
    if (byte == '.') point = digits;
    if (byte < '0' || byte > '9') continue;
    if (byte != '0' && first < 0) first = digits;
    digits++;
  }
  for (; at < number.len; at++) {
    char byte = number.ptr[at];
    if (byte == '-') negative = true;
    if (byte >= '0' && byte <= '9' && exponent < INT32_MAX) exponent = exponent * 10 + (byte - '0');
  }
  if (first < 0) return 0;
  return (point < 0 ? digits : point) - first + (negative ? -exponent : exponent);
}

static int read_number(struct reader *reader, struct json *json) {
  const char *begin = reader->at;
  bool integer = true;
  (void)take(reader, '-');
  const char *first = reader->at;
  size_t digits = skip_digits(reader);
  if (!digits) return unexpected(reader, "a digit");
  if (digits > 1 && *first == '0')
    return not_json(reader, begin, "not JSON: a number that starts with 0");
  if (take(reader, '.')) {
    integer = false;
    if (!skip_digits(reader)) return unexpected(reader, "a digit");
  }
  if (take(reader, 'e') || take(reader, 'E')) {
    integer = false;
    if (!take(reader, '+')) (void)take(reader, '-');
    if (!skip_digits(reader)) return unexpected(reader, "a digit");
  }
  json->kind = JSON_IS_NUMBER;
  json->text = span_of(begin, (size_t)(reader->at - begin));
  int64_t value;
  if (integer ? !json_to_integer(json, &value) : magnitude(json->text) > 308) {
    char problem[640];
    (void)snprintf(problem, sizeof problem, "%s is not a number of 64 bits,",
                   quote(json->text).text);
    return refuse(reader, TIDINGS_E_SCHEMA, begin, problem);
  }
  return 0;
}

static int read_word(struct reader *reader, struct json *json) {
  static const struct {
    const char *word;
    enum json_kind kind;
  } words[] = {{"true", JSON_IS_TRUE}, {"false", JSON_IS_FALSE}, {"null", JSON_IS_NULL}};
  struct tidings_span left = rest(reader);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t len = strlen(words[i].word);
    if (left.len < len || memcmp(left.ptr, words[i].word, len) != 0) continue;
    reader->at += len;
    json->kind = words[i].kind;
    return 0;
  }
  return unexpected(reader, "a value");
}

/* A value that is not closed yet goes onto the stack. */
static int open_value(struct reader *reader, struct json *json) {
  if (reader->depth == JSON_MAX_DEPTH) {
    char problem[64];
    (void)snprintf(problem, sizeof problem, "nested deeper than %d levels", (int)JSON_MAX_DEPTH);
    return refuse(reader, TIDINGS_E_TOO_BIG, reader->at, problem);
  }
  json->kind = *reader->at == '{' ? JSON_IS_OBJECT : JSON_IS_ARRAY;
  reader->at++;
  reader->open[reader->depth++] = (struct open_value){json, &json->members};
  return 0;
}

static int read_value(struct reader *reader, struct json *json) {
  if (reader->at == reader->end) return unexpected(reader, "a value");
  char byte = *reader->at;
  if (byte == '{' || byte == '[') return open_value(reader, json);
  if (byte == '"') {
    json->kind = JSON_IS_STRING;
    return read_string(reader, &json->text);
  }
  if (byte == '-' || (byte >= '0' && byte <= '9')) return read_number(reader, json);
  return read_word(reader, json);
}

static int compare_keys(const void *left, const void *right) {
  const struct tidings_span *a = left, *b = right;
  if (a->len != b->len) return a->len < b->len ? -1 : 1;
  return a->len ? memcmp(a->ptr, b->ptr, a->len) : 0;
}

static int duplicate(const struct reader *reader, struct tidings_span key) {
  return fail(reader->error, TIDINGS_E_INVAL, "%s: not JSON: the key %s stands twice in one object",
              reader->what, quote(key).text);
}

/* Few members are compared each with each; many are sorted, so that a hostile object costs no
 * quadratic time. */
static int check_keys(const struct reader *reader, const struct json *object) {
  enum { FEW = 12 };
  if (object->count <= FEW) {
    for (const struct json *one = object->members; one; one = one->next) {
      for (const struct json *other = object->members; other != one; other = other->next) {
        if (span_equal(one->key, other->key)) return duplicate(reader, one->key);
      }
    }
    return 0;
  }
  struct tidings_span *keys = arena_zalloc(reader->arena, object->count, sizeof *keys);
  if (!keys) return no_memory(reader);
  size_t count = 0;
  for (const struct json *one = object->members; one; one = one->next) keys[count++] = one->key;
  qsort(keys, count, sizeof *keys, compare_keys);
  for (size_t i = 1; i < count; i++) {
    if (span_equal(keys[i - 1], keys[i])) return duplicate(reader, keys[i]);
  }
  return 0;
}

/* Closes what ends here. Afterwards the input is at the end of the whole value, or the next member
 * of the innermost open one is due. */
static int close_values(struct reader *reader) {
  while (reader->depth) {
    const struct json *json = reader->open[reader->depth - 1].json;
    bool object = json->kind == JSON_IS_OBJECT;
    skip_space(reader);
    if (json->count && take(reader, ',')) return 0;
    if (!take(reader, object ? '}' : ']')) {
      if (json->count) return unexpected(reader, object ? "\",\" or \"}\"" : "\",\" or \"]\"");
      return 0; /* just opened, and not empty */
    }
    int code = object ? check_keys(reader, json) : 0;
    if (code) return code;
    reader->depth--;
  }
  return 0;
}

/* Makes room for the next member of the innermost open value and reads its key. */
static int begin_member(struct reader *reader, struct json **ret_member) {
  struct open_value *open = &reader->open[reader->depth - 1];
  struct json *member = arena_zalloc(reader->arena, 1, sizeof *member);
  if (!member) return no_memory(reader);
  if (open->json->kind == JSON_IS_OBJECT) {
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != '"')
      return unexpected(reader, "a key in double quotes");
    int code = read_string(reader, &member->key);
    if (code) return code;
    skip_space(reader);
    if (!take(reader, ':')) return unexpected(reader, "\":\"");
  }
  *open->tail = member;
  open->tail = &member->next;
  open->json->count++;
  *ret_member = member;
  return 0;
}

int json_read(struct tidings_span bytes, const char *what, struct arena *arena,
              const struct json **ret_json, struct tidings_error *error) {
  struct reader reader = {.original = bytes, .arena = arena, .what = what, .error = error};
  size_t valid = utf8_valid_length(bytes);
  if (valid < bytes.len)
    return fail(error, TIDINGS_E_INVAL, "%s: not UTF-8: byte 0x%02X at offset %zu", what,
                (unsigned)(unsigned char)bytes.ptr[valid], valid);
  if (!bytes.len) return fail(error, TIDINGS_E_INVAL, "%s: not JSON: it is empty", what);
  struct json *root = arena_zalloc(arena, 1, sizeof *root);
  char *copy = arena_alloc(arena, bytes.len);
  if (!root || !copy) return no_memory(&reader);
  memcpy(copy, bytes.ptr, bytes.len);
  reader.begin = reader.at = copy;
  reader.end = copy + bytes.len;

  struct json *json = root;
  for (;;) {
    skip_space(&reader);
    int code = read_value(&reader, json);
    if (!code) code = close_values(&reader);
    if (!code && reader.depth) code = begin_member(&reader, &json);
    if (code) return code;
    if (!reader.depth) break;
  }
  skip_space(&reader);
  if (reader.at < reader.end) return unexpected(&reader, "the end");
  *ret_json = root;
  return 0;
}
