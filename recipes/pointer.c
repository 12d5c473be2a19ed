/* SPDX-License-Identifier: MIT
 */
#include "recipes/pointer.h"

#include <string.h>

#include "common/plain_text.h"

static const char header_prefix[] = "header:", bytes_prefix[] = "bytes:";
enum { HEADER_PREFIX = sizeof header_prefix - 1, BYTES_PREFIX = sizeof bytes_prefix - 1 };

static bool is_header(struct tidings_span pointer) {
  return pointer.len > HEADER_PREFIX && memcmp(pointer.ptr, header_prefix, HEADER_PREFIX) == 0;
}

/* Takes the prefix off a pointer to an array of bytes. */
static bool take_bytes_prefix(struct tidings_span *pointer) {
  if (pointer->len <= BYTES_PREFIX || memcmp(pointer->ptr, bytes_prefix, BYTES_PREFIX) != 0)
    return false;
  *pointer = span_of(pointer->ptr + BYTES_PREFIX, pointer->len - BYTES_PREFIX);
  return true;
}

bool pointer_is_valid(struct tidings_span pointer) {
  if (is_header(pointer)) return true;
  (void)take_bytes_prefix(&pointer);
  if (pointer.len && pointer.ptr[0] == '.') pointer = span_of(pointer.ptr + 1, pointer.len - 1);
  if (pointer.len && pointer.ptr[0] != '/') return false;
  for (size_t i = 0; i < pointer.len; i++) {
    bool escape = pointer.ptr[i] == '~';
    if (escape &&
        (i + 1 == pointer.len || (pointer.ptr[i + 1] != '0' && pointer.ptr[i + 1] != '1')))
      return false;
  }
  return true;
}

/* Is this part of a pointer, in which ~0 and ~1 are escapes, the key? */
static bool is_key(struct tidings_span part, struct tidings_span key) {
  size_t at = 0;
  for (size_t i = 0; i < part.len; i++, at++) {
    char byte = part.ptr[i];
    if (byte == '~') byte = part.ptr[++i] == '1' ? '/' : '~';
    if (at == key.len || key.ptr[at] != byte) return false;
  }
  return at == key.len;
}

/* Finds the element with this number, which must have no leading zero. */
static const struct json *find_element(const struct json *array, struct tidings_span part) {
  size_t index = 0;
  if (!part.len || part.len > 9 || (part.len > 1 && part.ptr[0] == '0')) return NULL;
  for (size_t i = 0; i < part.len; i++) {
    if (part.ptr[i] < '0' || part.ptr[i] > '9') return NULL;
    index = index * 10 + (size_t)(part.ptr[i] - '0');
  }
  const struct json *one = array->members;
  while (one && index--) one = one->next;
  return one;
}

static const struct json *find_child(const struct json *value, struct tidings_span part) {
  if (value->kind == JSON_IS_ARRAY) return find_element(value, part);
  if (value->kind != JSON_IS_OBJECT) return NULL;
  const struct json *found = NULL; /* if a key is repeated, the last one counts */
  for (const struct json *one = value->members; one; one = one->next) {
    if (is_key(part, one->key)) found = one;
  }
  return found;
}

/* Finds a value. NULL: it is not there, or the pointer names a header. */
static const struct json *find_value(const struct recipe_document *document,
                                     struct tidings_span pointer) {
  const struct json *value = document->root;
  size_t at = 0;
  if (is_header(pointer)) return NULL;
  if (pointer.len && pointer.ptr[0] == '.') {
    value = document->element;
    at = 1;
  }
  while (value && at < pointer.len) {
    size_t begin = ++at;
    while (at < pointer.len && pointer.ptr[at] != '/') at++;
    value = find_child(value, span_of(pointer.ptr + begin, at - begin));
  }
  return value;
}

void pointer_each(const struct json *value, struct tidings_span pointer,
                  void (*visit)(void *context, const struct json *value), void *context) {
  size_t end = 1;
  if (!pointer.len) {
    visit(context, value);
    return;
  }
  while (end < pointer.len && pointer.ptr[end] != '/') end++;
  struct tidings_span part = span_of(pointer.ptr + 1, end - 1);
  struct tidings_span rest = span_of(pointer.ptr + end, pointer.len - end);
  if (!span_is(part, "*")) {
    const struct json *child = find_child(value, part);
    if (child) pointer_each(child, rest, visit, context);
    return;
  }
  if (value->kind != JSON_IS_ARRAY) return;
  for (const struct json *one = value->members; one; one = one->next)
    pointer_each(one, rest, visit, context);
}

static bool write_header(const struct recipe_document *document, struct tidings_span name,
                         struct buffer *out) {
  for (size_t i = 0; i < document->header_count; i++) {
    if (!span_equal(document->headers[i].name, name)) continue;
    buffer_span(out, document->headers[i].value);
    return true;
  }
  return false;
}

static void write_compound(const struct json *value, struct buffer *out) {
  struct arena arena = ARENA_EMPTY;
  struct tidings_span text = span_of(NULL, 0);
  if (json_compact(value, &arena, &text)) out->failed = true;
  else buffer_span(out, text);
  arena_free(&arena);
}

/* Writes U+FFFD instead of NULs, which a notification may not have. */
static void write_string(struct tidings_span text, struct buffer *out) {
  for (size_t at = 0; at < text.len;) {
    const char *nul = memchr(text.ptr + at, '\0', text.len - at);
    size_t end = nul ? (size_t)(nul - text.ptr) : text.len;
    buffer_span(out, span_of(text.ptr + at, end - at));
    if (nul) buffer_text(out, "\xef\xbf\xbd");
    at = end + (nul != NULL);
  }
}

/* A number from 0 to 255; -1: it is none. */
static int byte_of(const struct json *value) {
  int byte = 0;
  if (value->kind != JSON_IS_NUMBER || value->text.len > 3) return -1;
  for (size_t i = 0; i < value->text.len; i++) {
    char c = value->text.ptr[i];
    if (c < '0' || c > '9') return -1;
    byte = byte * 10 + (c - '0');
  }
  return byte <= 255 ? byte : -1;
}

/* False: the value is no array of bytes. */
static bool write_bytes(const struct json *value, struct buffer *out) {
  struct buffer bytes = BUFFER_EMPTY;
  bool fits = value->kind == JSON_IS_ARRAY && value->members;
  for (const struct json *one = fits ? value->members : NULL; one && fits; one = one->next) {
    int byte = byte_of(one);
    fits = byte >= 0;
    if (fits) buffer_byte(&bytes, (char)byte);
  }
  if (bytes.failed) out->failed = true;
  else if (fits) plain_text(buffer_view(&bytes), out);
  buffer_free(&bytes);
  return fits;
}

bool pointer_write(const struct recipe_document *document, struct tidings_span pointer,
                   struct buffer *out) {
  if (is_header(pointer))
    return write_header(document, span_of(pointer.ptr + HEADER_PREFIX, pointer.len - HEADER_PREFIX),
                        out);
  bool may_be_bytes = take_bytes_prefix(&pointer);
  const struct json *value = find_value(document, pointer);
  if (!value || value->kind == JSON_IS_NULL) return false;
  if (may_be_bytes && write_bytes(value, out)) return true;
  switch (value->kind) {
  case JSON_IS_STRING: write_string(value->text, out); break;
  case JSON_IS_NUMBER: buffer_span(out, value->text); break;
  case JSON_IS_TRUE: buffer_text(out, "true"); break;
  case JSON_IS_FALSE: buffer_text(out, "false"); break;
  default: write_compound(value, out); break;
  }
  return true;
}
