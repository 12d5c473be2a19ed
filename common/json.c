/* SPDX-License-Identifier: MIT
 *
 * common/json.c: looks things up in a tree, and writes a tree or a string as JSON text.
 */
#include "common/json.h"

#include "common/eight.h"

const struct json *json_member(const struct json *object, const char *key) {
  const struct json *found = NULL;
  if (!object || object->kind != JSON_IS_OBJECT) return NULL;
  for (const struct json *member = object->members; member; member = member->next) {
    if (span_is(member->key, key)) found = member;
  }
  return found;
}

bool json_to_integer(const struct json *json, int64_t *ret_value) {
  if (json->kind != JSON_IS_NUMBER) return false;
  struct tidings_span text = json->text;
  bool negative = text.ptr[0] == '-';
  int64_t value = 0;
  for (size_t at = negative; at < text.len; at++) {
    int digit = text.ptr[at] - '0';
    if (digit < 0 || digit > 9) return false;
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, digit, &value))
      return false;
  }
  if (!negative && __builtin_sub_overflow(0, value, &value)) return false;
  *ret_value = value;
  return true;
}

/* Returns the second character of a byte's short escape; 0: the byte has none. */
static char short_escape(unsigned char byte) {
  switch (byte) {
  case '"':
  case '\\': return (char)byte;
  case '\b': return 'b';
  case '\f': return 'f';
  case '\n': return 'n';
  case '\r': return 'r';
  case '\t': return 't';
  default: return 0;
  }
}

/* Finds the next byte that needs an escape; the text's length: there is none. */
static size_t next_escaped(struct tidings_span text, size_t at) {
  for (; text.len - at >= 8; at += 8) {
    uint64_t eight = eight_at(text.ptr + at);
    uint64_t found = eight_less(eight, 0x20) | eight_equal(eight, '"') | eight_equal(eight, '\\');
    if (found) return at + eight_first(found);
  }
  for (; at < text.len; at++) {
    unsigned char byte = (unsigned char)text.ptr[at];
    if (byte < 0x20 || byte == '"' || byte == '\\') break;
  }
  return at;
}

void json_write_string(struct tidings_span text, struct buffer *out) {
  (void)buffer_grow(out, text.len + 2);
  buffer_byte(out, '"');
  size_t run = 0;
  for (size_t at = 0; (at = next_escaped(text, at)) < text.len; at++) {
    unsigned char byte = (unsigned char)text.ptr[at];
    buffer_append(out, text.ptr + run, at - run);
    run = at + 1;
    char escape = short_escape(byte);
    if (escape) {
      char pair[2] = {'\\', escape};
      buffer_append(out, pair, sizeof pair);
    } else {
      buffer_format(out, "\\u%04x", byte);
    }
  }
  if (run < text.len) buffer_append(out, text.ptr + run, text.len - run);
  buffer_byte(out, '"');
}

static bool is_open(const struct json *json) {
  return json->kind == JSON_IS_ARRAY || json->kind == JSON_IS_OBJECT;
}

static void write_bracket(const struct json *json, const char *pair, struct buffer *out) {
  buffer_byte(out, pair[json->kind == JSON_IS_OBJECT]);
}

static void write_scalar(const struct json *json, struct buffer *out) {
  static const char *const words[] = {
      [JSON_IS_NULL] = "null", [JSON_IS_FALSE] = "false", [JSON_IS_TRUE] = "true"};
  if (json->kind == JSON_IS_STRING) {
    json_write_string(json->text, out);
  } else if (json->kind == JSON_IS_NUMBER) {
    buffer_span(out, json->text);
  } else {
    buffer_text(out, words[json->kind]);
  }
}

/* Ends a value, and the arrays and objects of which it is the last. Returns the next value; NULL:
 * `root` has ended. */
static const struct json *write_end(const struct json *json, const struct json *root,
                                    struct buffer *out) {
  for (;; json = json->parent) {
    if (is_open(json)) write_bracket(json, "]}", out);
    if (json == root) return NULL;
    if (!json->next) continue;
    buffer_byte(out, ',');
    return json->next;
  }
}

/* Does not recurse: each value has its parent. */
static void write_value(const struct json *root, struct buffer *out) {
  for (const struct json *json = root; json;) {
    if (is_open(json)) write_bracket(json, "[{", out);
    else write_scalar(json, out);
    json = json->members ? json->members : write_end(json, root, out);
    if (!json || json->parent->kind != JSON_IS_OBJECT) continue;
    json_write_string(json->key, out);
    buffer_byte(out, ':');
  }
}

int json_compact(const struct json *json, struct arena *arena, struct tidings_span *ret_text) {
  struct buffer buffer = BUFFER_EMPTY;
  write_value(json, &buffer);
  int result = buffer.failed ? -1 : arena_copy(arena, buffer_view(&buffer), ret_text);
  buffer_free(&buffer);
  return result;
}
