/* SPDX-License-Identifier: MIT
 *
 * common/json_read.c: the reader of json.h. It copies the input once and decodes strings in place.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/json_reader.h"
#include "common/utf8.h"

static struct tidings_span rest(const struct json_reader *reader) {
  return span_of(reader->at, (size_t)(reader->end - reader->at));
}

/* Writes an error whose sentence names line and column, counted in characters from 1. */
static int refuse(const struct json_reader *reader, int code, const char *at, const char *problem) {
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

int json_reader_refuse(const struct json_reader *reader, const char *at, const char *problem) {
  return refuse(reader, TIDINGS_E_INVAL, at, problem);
}

int json_reader_unexpected(const struct json_reader *reader, const char *expected) {
  if (reader->at == reader->end)
    return fail(reader->error, TIDINGS_E_INVAL, "%s: not JSON: it ends where %s was expected",
                reader->what, expected);
  struct tidings_span found = rest(reader);
  char problem[640];
  found.len = utf8_characters(found, 1);
  (void)snprintf(problem, sizeof problem, "not JSON: %s where %s was expected", quote(found).text,
                 expected);
  return json_reader_refuse(reader, reader->at, problem);
}

static int no_memory(const struct json_reader *reader) {
  return fail(reader->error, TIDINGS_E_NOMEM, "%s: no memory to read it", reader->what);
}

static size_t position(const struct json_reader *reader) {
  return (size_t)(reader->at - reader->begin);
}

/* False: no comment begins here, or it does not end. */
static bool skip_comment(struct json_reader *reader) {
  struct tidings_span left = rest(reader);
  if (left.len < 2 || left.ptr[0] != '/' || (left.ptr[1] != '/' && left.ptr[1] != '*'))
    return false;
  bool line = left.ptr[1] == '/';
  const char *end =
      line ? memchr(left.ptr, '\n', left.len) : memmem(left.ptr + 2, left.len - 2, "*/", 2);
  if (!end && !line) return false;
  reader->at += end ? (size_t)(end - left.ptr) + (line ? 1 : 2) : left.len;
  return true;
}

static void skip_blanks(struct json_reader *reader) {
  do {
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n' ||
                                        *reader->at == '\r' || *reader->at == '\t'))
      reader->at++;
  } while ((reader->rules->edited || reader->rules->comments) && skip_comment(reader));
}

/* In compact JSON, which is the most common, this takes one comparison. */
static inline void skip_space(struct json_reader *reader) {
  char next = ' ';
  if (reader->at < reader->end) next = *reader->at;
  if (next <= ' ' || next == '/') skip_blanks(reader);
}

static size_t skip_digits(struct json_reader *reader) {
  const char *begin = reader->at;
  while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9') reader->at++;
  return (size_t)(reader->at - begin);
}

/* Returns the exponent of the power of ten just above a number's absolute value: -1 for 0.05, 3 for
 * 120; 0 for zero. */
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

static int read_number(struct json_reader *reader, struct json *json) {
  const char *begin = reader->at;
  bool integer = true;
  (void)json_reader_take(reader, '-');
  const char *first = reader->at;
  size_t digits = skip_digits(reader);
  if (!digits) return json_reader_unexpected(reader, "a digit");
  if (digits > 1 && *first == '0')
    return json_reader_refuse(reader, begin, "not JSON: a number that starts with 0");
  if (json_reader_take(reader, '.')) {
    integer = false;
    if (!skip_digits(reader)) return json_reader_unexpected(reader, "a digit");
  }
  if (json_reader_take(reader, 'e') || json_reader_take(reader, 'E')) {
    integer = false;
    if (!json_reader_take(reader, '+')) (void)json_reader_take(reader, '-');
    if (!skip_digits(reader)) return json_reader_unexpected(reader, "a digit");
  }
  json->kind = JSON_IS_NUMBER;
  json->text = span_of(begin, (size_t)(reader->at - begin));
  int64_t value;
  if (reader->rules->edited || reader->rules->large) return 0;
  if (integer ? !json_to_integer(json, &value) : magnitude(json->text) > 308) {
    char problem[640];
    (void)snprintf(problem, sizeof problem, "%s is not a number of 64 bits,",
                   quote(json->text).text);
    return refuse(reader, TIDINGS_E_SCHEMA, begin, problem);
  }
  return 0;
}

static int read_word(struct json_reader *reader, struct json *json) {
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
  return json_reader_unexpected(reader, "a value");
}

static int open_value(struct json_reader *reader, struct json *json) {
  if (reader->depth == reader->rules->max_depth) {
    char problem[64];
    (void)snprintf(problem, sizeof problem, "nested deeper than %zu levels", reader->depth);
    return refuse(reader, TIDINGS_E_TOO_BIG, reader->at, problem);
  }
  json->kind = *reader->at == '{' ? JSON_IS_OBJECT : JSON_IS_ARRAY;
  reader->at++;
  reader->open = json;
  reader->last = NULL;
  reader->depth++;
  return 0;
}

static int read_scalar(struct json_reader *reader, struct json *json) {
  char byte = *reader->at;
  int code = 0;
  if (byte == '"') {
    json->kind = JSON_IS_STRING;
    code = json_reader_string(reader, false, &json->text);
  } else if (byte == '-' || (byte >= '0' && byte <= '9')) {
    code = read_number(reader, json);
  } else {
    code = read_word(reader, json);
  }
  json->end = position(reader);
  reader->last = json;
  return code;
}

static int read_value(struct json_reader *reader, struct json *json) {
  if (reader->at == reader->end) return json_reader_unexpected(reader, "a value");
  json->start = position(reader);
  if (!json->key.ptr) json->key_start = json->start;
  return *reader->at == '{' || *reader->at == '[' ? open_value(reader, json)
                                                  : read_scalar(reader, json);
}

static int compare_keys(const void *left, const void *right) {
  const struct tidings_span *a = left, *b = right;
  if (a->len != b->len) return a->len < b->len ? -1 : 1;
  return a->len ? memcmp(a->ptr, b->ptr, a->len) : 0;
}

static int duplicate(const struct json_reader *reader, struct tidings_span key) {
  return fail(reader->error, TIDINGS_E_INVAL,
              "%s: not JSON: the key %s appears twice in one object", reader->what,
              quote(key).text);
}

/* Refuses duplicate keys. Compares each of a few members with each other; sorts many, so that a
 * hostile object does not take quadratic time. */
static int check_keys(const struct json_reader *reader, const struct json *object) {
  enum { FEW = 12 };
  if (reader->rules->repeats) return 0;
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

/* Closes the values that end here. Afterwards either the whole value has ended, or the next member
 * of the innermost open value follows. */
static int close_values(struct json_reader *reader) {
  while (reader->open) {
    struct json *json = reader->open;
    bool object = json->kind == JSON_IS_OBJECT;
    skip_space(reader);
    bool comma = reader->last && json_reader_take(reader, ',');
    if (comma && !reader->rules->edited && !reader->rules->comments) return 0;
    if (comma) skip_space(reader);
    if (!json_reader_take(reader, object ? '}' : ']')) {
      if (comma || !reader->last) return 0;
      return json_reader_unexpected(reader, object ? "\",\" or \"}\"" : "\",\" or \"]\"");
    }
    int code = object ? check_keys(reader, json) : 0;
    if (code) return code;
    json->end = position(reader);
    reader->last = json;
    reader->open = json->parent;
    reader->depth--;
  }
  return 0;
}

/* Makes room for the next member of the innermost open value and reads its key. */
static int begin_member(struct json_reader *reader, struct json **ret_member) {
  struct json *open = reader->open, *member = arena_zalloc(reader->arena, 1, sizeof *member);
  if (!member) return no_memory(reader);
  if (open->kind == JSON_IS_OBJECT) {
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != '"')
      return json_reader_unexpected(reader, "a key in double quotes");
    member->key_start = position(reader);
    int code = json_reader_string(reader, true, &member->key);
    if (code) return code;
    skip_space(reader);
    if (!json_reader_take(reader, ':')) return json_reader_unexpected(reader, "\":\"");
  }
  if (reader->last) reader->last->next = member;
  else open->members = member;
  member->parent = open;
  open->count++;
  *ret_member = member;
  return 0;
}

/* Reads the copy from its first byte to its last. */
static int read_text(struct json_reader *reader, struct json *root) {
  struct json *json = root;
  for (;;) {
    skip_space(reader);
    int code = read_value(reader, json);
    if (!code) code = close_values(reader);
    if (!code && reader->open) code = begin_member(reader, &json);
    if (code) return code;
    if (!reader->open) break;
  }
  skip_space(reader);
  return reader->at < reader->end ? json_reader_unexpected(reader, "the end") : 0;
}

int json_read_by(const struct json_rules *rules, struct tidings_span bytes, const char *what,
                 struct arena *arena, const struct json **ret_json, struct tidings_error *error) {
  static const char mark[] = "\xEF\xBB\xBF";
  struct json_reader reader = {
      .original = bytes, .rules = rules, .arena = arena, .what = what, .error = error};
  size_t valid = rules->edited ? bytes.len : utf8_valid_length(bytes);
  if (valid < bytes.len)
    return fail(error, TIDINGS_E_INVAL, "%s: not UTF-8: byte 0x%02X at offset %zu", what,
                (unsigned)(unsigned char)bytes.ptr[valid], valid);
  if (!bytes.len && !rules->edited)
    return fail(error, TIDINGS_E_INVAL, "%s: not JSON: it is empty", what);
  struct json *root = arena_zalloc(arena, 1, sizeof *root);
  char *copy = arena_alloc(arena, bytes.len + 1);
  if (!root || !copy) return no_memory(&reader);
  if (bytes.len) memcpy(copy, bytes.ptr, bytes.len);
  copy[bytes.len] = '\0'; /* so that a number at the end has an end */
  reader.begin = reader.at = copy;
  reader.end = copy + bytes.len;
  if (rules->edited) {
    if (bytes.len >= 3 && memcmp(copy, mark, 3) == 0) reader.at += 3;
    skip_space(&reader);
    if (reader.at == reader.end) root = NULL;
  }
  int code = root ? read_text(&reader, root) : 0;
  if (!code) *ret_json = root;
  return code;
}

int json_read(struct tidings_span bytes, const char *what, struct arena *arena,
              const struct json **ret_json, struct tidings_error *error) {
  static const struct json_rules strict = {.max_depth = JSON_MAX_DEPTH};
  return json_read_by(&strict, bytes, what, arena, ret_json, error);
}
