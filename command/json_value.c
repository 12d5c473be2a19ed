/* SPDX-License-Identifier: MIT
 */
#include "command/json_value.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>

#include "common/error.h"

/* A number that is too large for a double becomes the largest double, because jansson has no
 * infinity. */
static json_t *number_value(const struct json *json) {
  int64_t integer = 0;
  if (json_to_integer(json, &integer)) return json_integer(integer);
  /* The text after the number cannot continue it. The "C" locale is constant and need not be
   * freed. */
  double value = strtod_l(json->text.ptr, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
  if (value > DBL_MAX) value = DBL_MAX;
  if (value < -DBL_MAX) value = -DBL_MAX;
  return json_real(value);
}

static json_t *scalar_value(const struct json *json) {
  switch (json->kind) {
  case JSON_IS_STRING: return json_stringn(json->text.ptr, json->text.len);
  case JSON_IS_NUMBER: return number_value(json);
  case JSON_IS_NULL: return json_null();
  default: return json_boolean(json->kind == JSON_IS_TRUE);
  }
}

/* Recurses only as deep as the reader let the text be. */
json_t *json_value_of(const struct json *json) {
  if (json->kind != JSON_IS_ARRAY && json->kind != JSON_IS_OBJECT) return scalar_value(json);
  bool object = json->kind == JSON_IS_OBJECT;
  json_t *value = object ? json_object() : json_array();
  int failed = value ? 0 : -1;
  for (const struct json *part = json->members; part && !failed; part = part->next) {
    json_t *inside = json_value_of(part);
    failed = object ? json_object_set_new(value, part->key.ptr, inside)
                    : json_array_append_new(value, inside);
  }
  if (!failed) return value;
  json_decref(value);
  return NULL;
}

int json_value_read(const struct json_rules *rules, struct tidings_span text, const char *what,
                    json_t **ret_value, struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  const struct json *json = NULL;
  json_t *value = NULL;
  int code = json_read_by(rules, text, what, &arena, &json, error);
  if (!code && !(value = json_value_of(json)))
    code = fail(error, TIDINGS_E_NOMEM, "%s: no memory to read it", what);
  arena_free(&arena);
  if (!code) *ret_value = value;
  return code;
}

const char *json_value_text(const json_t *object, const char *name) {
  const char *text = json_string_value(json_object_get(object, name));
  return text ? text : "";
}

uint64_t json_value_count(const json_t *object, const char *name) {
  json_int_t count = json_integer_value(json_object_get(object, name));
  return count > 0 ? (uint64_t)count : 0;
}
