/* SPDX-License-Identifier: MIT
 *
 * flat_fields.c: see the header.
 */
#include "flat_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "json.h"

/* "a, b, c" of a list that ends with NULL, as much as fits. */
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
  json_t *value = json_object_get(fields->object, key);
  if (!value) {
    fields->code = hk_error(fields->error, TIDINGS_E_SCHEMA, "%s.%s is missing, expected %s",
                            fields->name, key, expected);
    return fields->code;
  }
  char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
  bool is_long = text && strlen(text) > 80;
  fields->code = hk_error(fields->error, TIDINGS_E_SCHEMA, "%s.%s is %.80s%s, expected %s",
                          fields->name, key, text ? text : "wrong", is_long ? "..." : "", expected);
  json_free_t release = NULL;
  json_get_alloc_funcs(NULL, &release);
  release(text);
  return fields->code;
}

void hk_fields_only(struct hk_fields *fields, const char *const *names) {
  void *at = json_object_iter(fields->object);
  for (; at && !fields->code; at = json_object_iter_next(fields->object, at)) {
    const char *key = json_object_iter_key(at);
    const char *const *name = names;
    while (*name && strcmp(*name, key) != 0) name++;
    char known[256];
    list_words(names, known, sizeof known);
    if (!*name)
      fields->code =
          hk_error(fields->error, TIDINGS_E_SCHEMA,
                   "%s has an unknown member %.80s, expected only %s", fields->name, key, known);
  }
}

/* The member, if it is there and of the type; else NULL and perhaps an error. */
static json_t *member(struct hk_fields *fields, const char *key, enum hk_need need, json_type type,
                      const char *expected) {
  json_t *value = json_object_get(fields->object, key);
  if ((!value && need == HK_OPTIONAL) || (value && json_typeof(value) == type))
    return fields->code ? NULL : value;
  hk_field_wrong(fields, key, expected);
  return NULL;
}

struct tidings_span hk_field_text(struct hk_fields *fields, const char *key, enum hk_need need) {
  const json_t *value = member(fields, key, need, JSON_STRING, "a string");
  return value ? (struct tidings_span){.ptr = json_string_value(value),
                                       .len = json_string_length(value)}
               : (struct tidings_span){0};
}

const char *hk_field_string(struct hk_fields *fields, const char *key, enum hk_need need) {
  struct tidings_span text = hk_field_text(fields, key, need);
  if (text.ptr && strlen(text.ptr) != text.len)
    hk_field_wrong(fields, key, "a string without NUL characters");
  return fields->code ? NULL : text.ptr;
}

const json_t *hk_field_object(struct hk_fields *fields, const char *key, enum hk_need need) {
  return member(fields, key, need, JSON_OBJECT, "an object");
}

const json_t *hk_field_array(struct hk_fields *fields, const char *key) {
  return member(fields, key, HK_OPTIONAL, JSON_ARRAY, "an array");
}

uint32_t hk_field_number(struct hk_fields *fields, const char *key, uint32_t otherwise) {
  static const char expected[] = "a whole number from 0 to 4294967295";
  const json_t *value = member(fields, key, HK_OPTIONAL, JSON_INTEGER, expected);
  if (!value) return otherwise;
  json_int_t number = json_integer_value(value);
  if (number >= 0 && number <= UINT32_MAX) return (uint32_t)number;
  hk_field_wrong(fields, key, expected);
  return otherwise;
}

bool hk_field_flag(struct hk_fields *fields, const char *key) {
  const json_t *value = json_object_get(fields->object, key);
  if (value && !json_is_boolean(value)) hk_field_wrong(fields, key, "true or false");
  return !fields->code && json_is_true(value);
}

uint32_t hk_field_word(struct hk_fields *fields, const char *key, const char *const *words,
                       enum hk_need need, uint32_t otherwise) {
  char known[256] = "one of ";
  list_words(words, known + strlen(known), sizeof known - strlen(known));
  const json_t *value = member(fields, key, need, JSON_STRING, known);
  if (!value) return otherwise;
  for (uint32_t i = 0; words[i]; i++) {
    if (strcmp(words[i], json_string_value(value)) == 0) return i;
  }
  hk_field_wrong(fields, key, known);
  return otherwise;
}
