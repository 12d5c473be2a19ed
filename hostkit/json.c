/* SPDX-License-Identifier: MIT
 *
 * json.c: see the header.
 */
#include "json.h"

#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "json_read.h"

int32_t hk_json_parse_object(const char *text, size_t len, const char *name, json_t **ret_object,
                             struct tidings_error *error) {
  json_t *value = NULL;
  int32_t code = hk_json_read((struct tidings_span){.ptr = text, .len = len}, name, &value, error);
  if (code) return code;
  if (!json_is_object(value)) {
    json_decref(value);
    return hk_error(error, TIDINGS_E_INVAL, "%s is JSON but not an object", name);
  }
  *ret_object = value;
  return TIDINGS_OK;
}

char *hk_json_dump(const json_t *value) {
  /* Into memory of our own: the program may have given jansson another allocator. */
  size_t len = value ? json_dumpb(value, NULL, 0, JSON_COMPACT) : 0;
  char *text = len ? malloc(len + 1) : NULL;
  if (!text) return NULL;
  if (json_dumpb(value, text, len, JSON_COMPACT) != len) {
    free(text);
    return NULL;
  }
  text[len] = '\0';
  return text;
}

static json_t *replaced_text(struct tidings_span text) {
  static const char replacement[] = "\xEF\xBF\xBD";
  char *copy = malloc(text.len * (sizeof replacement - 1));
  if (!copy) return NULL;
  size_t used = 0;
  for (size_t i = 0; i < text.len;) {
    size_t len = hk_utf8_sequence(text.ptr + i, text.len - i);
    memcpy(copy + used, len ? text.ptr + i : replacement, len ? len : sizeof replacement - 1);
    used += len ? len : sizeof replacement - 1;
    i += len ? len : 1;
  }
  json_t *string = json_stringn_nocheck(copy, used);
  free(copy);
  return string;
}

json_t *hk_json_text(struct tidings_span text) {
  if (text.len == 0) return json_string("");
  return hk_is_utf8(text) ? json_stringn_nocheck(text.ptr, text.len) : replaced_text(text);
}

json_t *hk_json_text_or_null(struct tidings_span text) {
  return text.len ? hk_json_text(text) : json_null();
}

json_t *hk_json_value(struct tidings_span text) {
  if (text.len == 0) return json_null();
  json_t *value = NULL;
  int32_t code = hk_json_read(text, "a value", &value, NULL);
  return code == TIDINGS_OK || code == TIDINGS_E_NOMEM ? value : hk_json_text(text);
}

int hk_json_put(json_t *object, const char *key, json_t *value) {
  return json_object_set_new(object, key, value) != 0;
}

int hk_json_add(json_t *array, json_t *value) { return json_array_append_new(array, value) != 0; }
