/* SPDX-License-Identifier: MIT
 */
#include "event/field.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/error.h"

/* Text of fixed size that is filled from the left. */
struct fixed {
  char *text;
  size_t size, len;
};

static void fixed_add(struct fixed *fixed, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void fixed_add(struct fixed *fixed, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int len = vsnprintf(fixed->text + fixed->len, fixed->size - fixed->len, format, args);
  va_end(args);
  size_t room = fixed->size - fixed->len - 1;
  if (len > 0) fixed->len += (size_t)len < room ? (size_t)len : room;
}

static bool is_plain(struct tidings_span name) {
  if (!name.len || name.len > 60) return false;
  for (size_t i = 0; i < name.len; i++) {
    char byte = name.ptr[i];
    bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                 (byte >= '0' && byte <= '9') || byte == '_' || byte == '-';
    if (!plain) return false;
  }
  return true;
}

struct field_path_text field_path_text(const struct path *path) {
  enum { DEEPEST = 8 };
  const struct path *steps[DEEPEST];
  size_t count = 0;
  for (; path && count < DEEPEST; path = path->parent) steps[count++] = path;
  struct field_path_text result = {.text = ""};
  struct fixed fixed = {result.text, sizeof result.text, 0};
  while (count) {
    struct tidings_span name = steps[--count]->name;
    if (fixed.len) fixed_add(&fixed, ".");
    if (is_plain(name)) fixed_add(&fixed, "%.*s", SPAN_FORMAT(name));
    else fixed_add(&fixed, "%s", quote(name).text);
  }
  return result;
}

struct field_name_list field_name_list(const char *const *names, size_t count) {
  struct field_name_list result = {.text = ""};
  struct fixed fixed = {result.text, sizeof result.text, 0};
  for (size_t i = 0; i < count; i++) fixed_add(&fixed, "%s%s", i ? ", " : "", names[i]);
  return result;
}

/* A value as a sentence shows it. */
static struct quoted shown(const struct json *value) {
  static const char *const words[] = {"null", "false", "true"};
  struct quoted result = {.text = ""};
  struct fixed fixed = {result.text, sizeof result.text, 0};
  switch (value->kind) {
  case JSON_IS_NULL:
  case JSON_IS_FALSE:
  case JSON_IS_TRUE: fixed_add(&fixed, "%s", words[value->kind]); break;
  case JSON_IS_NUMBER:
    fixed_add(&fixed, "%.*s%s", value->text.len > 40 ? 40 : (int)value->text.len, value->text.ptr,
              value->text.len > 40 ? "…" : "");
    break;
  case JSON_IS_STRING: return quote(value->text);
  case JSON_IS_ARRAY: fixed_add(&fixed, "an array"); break;
  case JSON_IS_OBJECT: fixed_add(&fixed, "an object"); break;
  }
  return result;
}

int field_refuse(const struct path *parent, const struct json *value, const char *expected,
                 struct tidings_error *error) {
  struct path path = field_place(parent, value);
  return fail(error, TIDINGS_E_SCHEMA, "%s: %s is not %s", field_path_text(&path).text,
              shown(value).text, expected);
}

int field_misplaced(const struct path *parent, const struct json *value, const char *where,
                    struct tidings_error *error) {
  struct path path = field_place(parent, value);
  return fail(error, TIDINGS_E_SCHEMA, "%s: %s is given %s", field_path_text(&path).text,
              shown(value).text, where);
}

int field_missing(const struct path *parent, const char *name, const char *expected,
                  struct tidings_error *error) {
  struct path path = path_member(parent, name);
  return fail(error, TIDINGS_E_SCHEMA, "%s: missing; expected %s", field_path_text(&path).text,
              expected);
}

int field_object(const struct path *parent, const struct json *value, struct tidings_error *error) {
  return value->kind == JSON_IS_OBJECT ? 0 : field_refuse(parent, value, "an object", error);
}

int field_string(const struct path *parent, const struct json *value, size_t max_bytes,
                 struct tidings_span *ret, struct tidings_error *error) {
  struct path path = field_place(parent, value);
  if (value->kind != JSON_IS_STRING) return field_refuse(parent, value, "a string", error);
  if (value->text.len > max_bytes)
    return fail(error, TIDINGS_E_TOO_BIG, "%s: %zu bytes are over the limit of %zu",
                field_path_text(&path).text, value->text.len, max_bytes);
  *ret = value->text;
  return 0;
}

int field_bool(const struct path *parent, const struct json *value, bool *ret,
               struct tidings_error *error) {
  if (value->kind != JSON_IS_TRUE && value->kind != JSON_IS_FALSE)
    return field_refuse(parent, value, "true or false", error);
  *ret = value->kind == JSON_IS_TRUE;
  return 0;
}

int field_integer(const struct path *parent, const struct json *value, int64_t min, int64_t max,
                  int64_t *ret, struct tidings_error *error) {
  int64_t number;
  if (!json_to_integer(value, &number) || number < min || number > max) {
    char expected[80] = "an integer of 64 bits";
    if (max != INT64_MAX)
      (void)snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)min,
                     (long long)max);
    else if (min != INT64_MIN)
      (void)snprintf(expected, sizeof expected, "an integer of at least %lld", (long long)min);
    return field_refuse(parent, value, expected, error);
  }
  *ret = number;
  return 0;
}

bool field_decimal(struct tidings_span text, uint64_t *ret_value) {
  uint64_t value = 0;
  if (!text.len) return false;
  for (size_t i = 0; i < text.len; i++) {
    char digit = text.ptr[i];
    if (digit < '0' || digit > '9' || __builtin_mul_overflow(value, 10u, &value) ||
        __builtin_add_overflow(value, (uint64_t)(digit - '0'), &value))
      return false;
  }
  *ret_value = value;
  return true;
}

int field_needed_choice(const struct path *parent, const char *name, const struct json *value,
                        const char *const *choices, size_t count, uint8_t *ret,
                        struct tidings_error *error) {
  for (size_t i = 0; i < count && value && value->kind == JSON_IS_STRING; i++) {
    if (!span_is(value->text, choices[i])) continue;
    *ret = (uint8_t)i;
    return 0;
  }
  char expected[320];
  (void)snprintf(expected, sizeof expected, "one of %s", field_name_list(choices, count).text);
  return value ? field_refuse(parent, value, expected, error)
               : field_missing(parent, name, expected, error);
}

int field_choice(const struct path *parent, const struct json *value, const char *const *choices,
                 size_t count, uint8_t *ret, struct tidings_error *error) {
  return field_needed_choice(parent, "", value, choices, count, ret, error);
}

int field_members(const struct path *path, const struct json *object,
                  const struct member_names *known, const struct json **slots,
                  struct tidings_error *error) {
  for (size_t i = 0; i < known->count; i++) slots[i] = NULL;
  for (const struct json *member = object->members; member; member = member->next) {
    size_t i = 0;
    while (i < known->count && !span_is(member->key, known->names[i])) i++;
    if (i == known->count) {
      struct path at = {path, member->key};
      return fail(error, TIDINGS_E_SCHEMA, "%s: unknown %s; expected %s%s",
                  field_path_text(&at).text, known->noun,
                  known->count > 1 ? "one of "
                  : known->count   ? ""
                                   : "none",
                  field_name_list(known->names, known->count).text);
    }
    slots[i] = member;
  }
  return 0;
}
