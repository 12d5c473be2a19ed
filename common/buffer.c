/* SPDX-License-Identifier: MIT
 */
#include "common/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool buffer_grow(struct buffer *buffer, size_t more) {
  if (buffer->failed) return false;
  if (more <= buffer->capacity - buffer->len) return true;
  size_t capacity = buffer->capacity ? buffer->capacity : 256;
  while (capacity - buffer->len < more) {
    if (capacity > SIZE_MAX / 4) goto failed;
    capacity *= 2;
  }
  char *bytes = realloc(buffer->bytes, capacity);
  if (!bytes) goto failed;
  buffer->bytes = bytes;
  buffer->capacity = capacity;
  return true;
failed:
  buffer->failed = true;
  return false;
}

void buffer_format(struct buffer *buffer, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int len = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (len < 0) {
    buffer->failed = true;
    return;
  }
  if (!buffer_grow(buffer, (size_t)len + 1)) return;
  va_start(args, format);
  (void)vsnprintf(buffer->bytes + buffer->len, (size_t)len + 1, format, args);
  va_end(args);
  buffer->len += (size_t)len;
}

char *buffer_take(struct buffer *buffer) {
  buffer_byte(buffer, '\0');
  char *bytes = buffer->failed ? NULL : buffer->bytes;
  if (!bytes) free(buffer->bytes);
  *buffer = (struct buffer)BUFFER_EMPTY;
  return bytes;
}

void buffer_free(struct buffer *buffer) {
  free(buffer->bytes);
  *buffer = (struct buffer)BUFFER_EMPTY;
}
