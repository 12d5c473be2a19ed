/* SPDX-License-Identifier: MIT
 *
 * json.c: see the header.
 */
#include "json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"

#define MAX_DEPTH 64 /* the contract's events have 16; jansson recurses, and a host's thread may have a small stack */

/* How deep arrays and objects nest, found without recursion. */
static size_t depth_of(const char *text, size_t len) {
  size_t depth = 0;
  size_t deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < len; i++) {
    char c = text[i];
    if (in_string) {
      if (c == '\\') i++;
      else if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = ++depth > deepest ? depth : deepest;
    } else if ((c == ']' || c == '}') && depth) {
      depth--;
    }
  }
  return deepest;
}

int32_t hk_json_parse_object(const char *text, size_t len, const char *name, json_t **ret_object, struct tidings_error *error) {
  size_t depth = depth_of(text, len);
  if (depth > MAX_DEPTH) return hk_error(error, TIDINGS_E_TOO_BIG, "%s nests %zu deep, the limit is %d", name, depth, MAX_DEPTH);
  json_error_t reason;
  json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &reason);
  if (!value && json_error_code(&reason) == json_error_out_of_memory)
    return hk_error(error, TIDINGS_E_NOMEM, "out of memory while reading %s", name);
  if (!value) return hk_error(error, TIDINGS_E_INVAL, "%s is not JSON: %s at byte %d", name, reason.text, reason.position);
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

/* The length of the well-formed UTF-8 sequence at text, or 0. */
static size_t sequence(const unsigned char *text, size_t len) {
  unsigned char lead = text[0];
  size_t needs = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : (lead & 0xF0u) == 0xE0 ? 3 : lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
  if (needs == 0 || needs > len) return 0;
  for (size_t i = 1; i < needs; i++) {
    if ((text[i] & 0xC0u) != 0x80) return 0;
  }
  bool overlong = (lead == 0xE0 && text[1] < 0xA0) || (lead == 0xF0 && text[1] < 0x90);
  bool outside = (lead == 0xED && text[1] >= 0xA0) || (lead == 0xF4 && text[1] >= 0x90);
  return overlong || outside ? 0 : needs;
}

static json_t *replaced_text(struct tidings_span text) {
  static const char replacement[] = "\xEF\xBF\xBD";
  char *copy = malloc(text.len * (sizeof replacement - 1));
  if (!copy) return NULL;
  size_t used = 0;
  for (size_t i = 0; i < text.len;) {
    size_t len = sequence((const unsigned char *)text.ptr + i, text.len - i);
    memcpy(copy + used, len ? text.ptr + i : replacement, len ? len : sizeof replacement - 1);
    used += len ? len : sizeof replacement - 1;
    i += len ? len : 1;
  }
  json_t *string = json_stringn(copy, used);
  free(copy);
  return string;
}

static bool is_utf8(struct tidings_span text) {
  for (size_t i = 0; i < text.len;) {
    size_t len = sequence((const unsigned char *)text.ptr + i, text.len - i);
    if (!len) return false;
    i += len;
  }
  return true;
}

json_t *hk_json_text(struct tidings_span text) {
  if (text.len == 0) return json_string("");
  return is_utf8(text) ? json_stringn(text.ptr, text.len) : replaced_text(text);
}

json_t *hk_json_text_or_null(struct tidings_span text) { return text.len ? hk_json_text(text) : json_null(); }

json_t *hk_json_value(struct tidings_span text) {
  if (text.len == 0) return json_null();
  json_t *value = NULL;
  if (depth_of(text.ptr, text.len) <= MAX_DEPTH) value = json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
  return value ? value : hk_json_text(text);
}

int hk_json_put(json_t *object, const char *key, json_t *value) { return json_object_set_new(object, key, value) != 0; }

int hk_json_add(json_t *array, json_t *value) { return json_array_append_new(array, value) != 0; }
