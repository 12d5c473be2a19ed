/* SPDX-License-Identifier: MIT
 */
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tidings/hostkit.h>

#include "common/utf8.h"

enum { UNITS_MAX = 8192 }; /* UTF-16 units on the stack */

bool throw_type(struct napi_env__ *env, const char *name, const char *expected) {
  char text[160];
  snprintf(text, sizeof text, "%s: expected %s", name, expected);
  napi_throw_type_error(env, "TIDINGS_E_INVAL", text);
  return false;
}

struct napi_value__ *throw_code(struct napi_env__ *env, int32_t code,
                                const struct tidings_error *error) {
  const char *name = hostkit_error_name(code);
  napi_throw_error(env, name, error->text[0] ? error->text : name);
  return NULL;
}

struct napi_value__ *throw_engine(struct napi_env__ *env) {
  bool pending = false;
  if (napi_is_exception_pending(env, &pending) == NAPI_OK && !pending)
    napi_throw_error(env, "TIDINGS_E_NOMEM", "the JavaScript engine refused a value");
  return NULL;
}

static bool throw_memory(struct napi_env__ *env) {
  napi_throw_error(env, "TIDINGS_E_NOMEM", "out of memory while reading an argument");
  return false;
}

/* Encodes UTF-8 itself: most texts are ASCII, and Node takes ten times as long to encode a string
 * as to copy it. Half of a surrogate pair becomes U+FFFD, as in the engine. */
static size_t encode(const uint16_t *units, size_t count, char *to) {
  static const uint64_t beyond_ascii = 0xFF80FF80FF80FF80u;
  char *begin = to;
  for (size_t at = 0; at < count;) {
    uint64_t four = beyond_ascii;
    if (count - at >= 4) memcpy(&four, units + at, sizeof four);
    if (!(four & beyond_ascii)) {
      for (int i = 0; i < 4; i++) *to++ = (char)units[at++];
      continue;
    }
    uint32_t first = units[at++], second = at < count ? units[at] : 0;
    bool is_half = (first & 0xF800) == 0xD800;
    bool is_pair = is_half && first < 0xDC00 && (second & 0xFC00) == 0xDC00;
    if (is_pair) at++;
    if (is_pair) first = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    to += utf8_encode(is_half && !is_pair ? 0xFFFD : first, to);
  }
  return (size_t)(to - begin);
}

/* Takes a string of fewer than UNITS_MAX units. */
static bool take_units(struct napi_env__ *env, struct napi_value__ *value, struct text *ret_text) {
  uint16_t units[UNITS_MAX];
  size_t count = 0;
  if (napi_get_value_string_utf16(env, value, units, UNITS_MAX, &count) != NAPI_OK)
    return throw_engine(env);
  ret_text->ptr = malloc(3 * count + 1);
  if (!ret_text->ptr) return throw_memory(env);
  ret_text->len = encode(units, count, ret_text->ptr);
  ret_text->ptr[ret_text->len] = '\0';
  return true;
}

static bool take_long(struct napi_env__ *env, struct napi_value__ *value, struct text *ret_text) {
  size_t len = 0;
  if (napi_get_value_string_utf8(env, value, NULL, 0, &len) != NAPI_OK) return throw_engine(env);
  ret_text->ptr = malloc(len + 1);
  if (!ret_text->ptr) return throw_memory(env);
  if (napi_get_value_string_utf8(env, value, ret_text->ptr, len + 1, &ret_text->len) != NAPI_OK)
    return throw_engine(env);
  return true;
}

bool text_take(struct napi_env__ *env, struct napi_value__ *value, const char *name, enum need need,
               struct text *ret_text) {
  ret_text->ptr = NULL;
  ret_text->len = 0;
  size_t len = 0;
  if (napi_get_value_string_utf8(env, value, ret_text->small, sizeof ret_text->small, &len) !=
      NAPI_OK) {
    int type = NAPI_OBJECT;
    if (napi_typeof(env, value, &type) != NAPI_OK) return throw_engine(env);
    if (need == OPTIONAL && (type == NAPI_UNDEFINED || type == NAPI_NULL)) return true;
    return throw_type(env, name, "a string");
  }
  ret_text->ptr = ret_text->small;
  ret_text->len = len;
  if (len + 4 < sizeof ret_text->small)
    return true; /* the text is whole: there was room for another character */
  ret_text->ptr = NULL;
  if (napi_get_value_string_utf16(env, value, NULL, 0, &len) != NAPI_OK) return throw_engine(env);
  return len < UNITS_MAX ? take_units(env, value, ret_text) : take_long(env, value, ret_text);
}

bool text_members_read(struct napi_env__ *env, struct napi_value__ *object, const char *name,
                       const struct text_member *members, size_t count) {
  int type = NAPI_UNDEFINED;
  if (napi_typeof(env, object, &type) != NAPI_OK) return throw_engine(env);
  if (type != NAPI_OBJECT) return throw_type(env, name, "an object");
  for (size_t i = 0; i < count; i++) {
    struct napi_value__ *value = NULL;
    if (napi_get_named_property(env, object, members[i].name, &value) != NAPI_OK)
      return throw_engine(env);
    if (!text_take(env, value, members[i].name, members[i].need, members[i].text)) return false;
  }
  return true;
}

void text_members_free(const struct text_member *members, size_t count) {
  for (size_t i = 0; i < count; i++) text_free(members[i].text);
}

bool text_plain(struct napi_env__ *env, const struct text *text, const char *name) {
  return !text->ptr || strlen(text->ptr) == text->len ||
         throw_type(env, name, "a string without NUL characters");
}

struct tidings_span text_span(const struct text *text) {
  return (struct tidings_span){.ptr = text->ptr, .len = text->len};
}

void text_free(struct text *text) {
  if (text->ptr != text->small) free(text->ptr);
  text->ptr = NULL;
}

/* Takes a whole number. False: the value is not one, or is above `most`. */
static bool take_whole(struct napi_env__ *env, struct napi_value__ *value, uint64_t most,
                       uint64_t *ret_number) {
  double number = -1;
  if (napi_get_value_double(env, value, &number) != NAPI_OK) return false;
  if (!(number >= 0 && number <= (double)most) || number > (double)(uint64_t)number) return false;
  *ret_number = (uint64_t)number;
  return true;
}

bool value_number_member(struct napi_env__ *env, struct napi_value__ *object, const char *name,
                         uint64_t most, uint64_t *ret_number) {
  struct napi_value__ *value = NULL;
  int type = NAPI_UNDEFINED;
  char expected[64];
  if (napi_get_named_property(env, object, name, &value) != NAPI_OK ||
      napi_typeof(env, value, &type) != NAPI_OK)
    return throw_engine(env);
  if (type == NAPI_UNDEFINED) return true;
  snprintf(expected, sizeof expected, "a whole number from 0 to %llu", (unsigned long long)most);
  return take_whole(env, value, most, ret_number) || throw_type(env, name, expected);
}

bool value_bytes(struct napi_env__ *env, struct napi_value__ *value, const char *name,
                 uint64_t *ret_bytes) {
  int type = NAPI_UNDEFINED;
  *ret_bytes = 0;
  if (napi_typeof(env, value, &type) != NAPI_OK) return throw_engine(env);
  return type == NAPI_UNDEFINED || type == NAPI_NULL ||
         take_whole(env, value, NUMBER_MAX, ret_bytes) ||
         throw_type(env, name, "a whole number of bytes, 0 for no bound");
}

struct napi_value__ *value_text(struct napi_env__ *env, const char *text, size_t len) {
  struct napi_value__ *value = NULL;
  return napi_create_string_utf8(env, text, len, &value) == NAPI_OK ? value : throw_engine(env);
}

struct napi_value__ *value_undefined(struct napi_env__ *env) {
  struct napi_value__ *value = NULL;
  return napi_get_undefined(env, &value) == NAPI_OK ? value : NULL;
}
