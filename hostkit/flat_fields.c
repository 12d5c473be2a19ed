/* SPDX-License-Identifier: MIT
 */
#include "flat_fields.h"

#include <stdio.h>
#include <string.h>

#include "common/utf8.h"
#include "errors.h"

enum { SHOWN = 80 }; /* bytes of a value or key in an error */

/* Writes "a, b, c" from a list that ends with NULL, as far as it fits. */
static void list_words(const char *const *words, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (; *words && used < size; words++) {
    int len = snprintf(text + used, size - used, "%s%s", used ? ", " : "", *words);
    used += len > 0 ? (size_t)len : 0;
  }
}

int32_t hk_field_wrong(struct hk_fields *fields, const char *key, const char *expected) {
  if (fields->code) return fields->code;
  const struct json *value = json_member(fields->object, key);
  struct tidings_span text = span_text("wrong");
  if (value) (void)json_compact(value, fields->arena, &text);
  size_t shown = utf8_prefix(text, SHOWN);
  fields->code = value ? hk_error(fields->error, TIDINGS_E_SCHEMA, "%s.%s is %.*s%s, expected %s",
                                  fields->name, key, (int)shown, text.ptr,
                                  shown < text.len ? "..." : "", expected)
                       : hk_error(fields->error, TIDINGS_E_SCHEMA, "%s.%s is missing, expected %s",
                                  fields->name, key, expected);
  return fields->code;
}

void hk_fields_only(struct hk_fields *fields, const char *const *names) {
  const struct json *member = fields->object->members;
  for (; member && !fields->code; member = member->next) {
    const char *const *name = names;
    while (*name && !span_is(member->key, *name)) name++;
    char known[256];
    list_words(names, known, sizeof known);
    if (!*name)
      fields->code = hk_error(fields->error, TIDINGS_E_SCHEMA,
                              "%s has an unknown member %.*s, expected only %s", fields->name,
                              (int)utf8_prefix(member->key, SHOWN), member->key.ptr, known);
  }
}

/* Returns the member, if it exists and has the kind; else NULL, and perhaps sets an error. */
static const struct json *field(struct hk_fields *fields, const char *key, enum hk_need need,
                                enum json_kind kind, const char *expected) {
  const struct json *value = json_member(fields->object, key);
  if ((!value && need == HK_OPTIONAL) || (value && value->kind == kind))
    return fields->code ? NULL : value;
  hk_field_wrong(fields, key, expected);
  return NULL;
}

struct tidings_span hk_field_text(struct hk_fields *fields, const char *key, enum hk_need need) {
  const struct json *value = field(fields, key, need, JSON_IS_STRING, "a string");
  return value ? value->text : (struct tidings_span){0};
}

const char *hk_field_string(struct hk_fields *fields, const char *key, enum hk_need need) {
  struct tidings_span text = hk_field_text(fields, key, need);
  if (text.ptr && strlen(text.ptr) != text.len)
    hk_field_wrong(fields, key, "a string without NUL characters");
  return fields->code ? NULL : text.ptr;
}

const struct json *hk_field_object(struct hk_fields *fields, const char *key, enum hk_need need) {
  return field(fields, key, need, JSON_IS_OBJECT, "an object");
}

const struct json *hk_field_array(struct hk_fields *fields, const char *key) {
  return field(fields, key, HK_OPTIONAL, JSON_IS_ARRAY, "an array");
}

static uint64_t number_up_to(struct hk_fields *fields, const char *key, int64_t most,
                             uint64_t otherwise) {
  char expected[64];
  (void)snprintf(expected, sizeof expected, "a whole number from 0 to %lld", (long long)most);
  const struct json *value = field(fields, key, HK_OPTIONAL, JSON_IS_NUMBER, expected);
  int64_t number = 0;
  if (!value) return otherwise;
  if (json_to_integer(value, &number) && number >= 0 && number <= most) return (uint64_t)number;
  hk_field_wrong(fields, key, expected);
  return otherwise;
}

uint32_t hk_field_number(struct hk_fields *fields, const char *key, uint32_t otherwise) {
  return (uint32_t)number_up_to(fields, key, UINT32_MAX, otherwise);
}

uint64_t hk_field_number64(struct hk_fields *fields, const char *key) {
  return number_up_to(fields, key, INT64_MAX, 0);
}

bool hk_field_flag(struct hk_fields *fields, const char *key) {
  const struct json *value = json_member(fields->object, key);
  bool yes = value && value->kind == JSON_IS_TRUE;
  if (value && !yes && value->kind != JSON_IS_FALSE) hk_field_wrong(fields, key, "true or false");
  return !fields->code && yes;
}

uint32_t hk_field_word(struct hk_fields *fields, const char *key, const char *const *words,
                       enum hk_need need, uint32_t otherwise) {
  char known[256] = "one of ";
  list_words(words, known + strlen(known), sizeof known - strlen(known));
  const struct json *value = field(fields, key, need, JSON_IS_STRING, known);
  if (!value) return otherwise;
  for (uint32_t i = 0; words[i]; i++) {
    if (span_is(value->text, words[i])) return i;
  }
  hk_field_wrong(fields, key, known);
  return otherwise;
}
