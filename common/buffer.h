/* SPDX-License-Identifier: MIT
 *
 * common/buffer.h: bytes that grow at the end. Writers need not check each append: once memory has
 * run out, the buffer stays `failed`, and the code that finishes the buffer checks that once.
 */
#ifndef COMMON_BUFFER_H
#define COMMON_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

struct buffer {
  char *bytes; /* malloc'ed; NULL while empty */
  size_t len, capacity;
  bool failed;
};

#define BUFFER_EMPTY                                                                               \
  { NULL, 0, 0, false }

bool buffer_grow(struct buffer *buffer, size_t more); /* makes room; false: it has failed */
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Takes the bytes, with a NUL at the end, and leaves the buffer empty; free them. NULL: the buffer
 * has failed. */
char *buffer_take(struct buffer *buffer);
void buffer_free(struct buffer *buffer); /* and makes it empty */

/* These are inline, because rendering calls little else. */
static inline void buffer_append(struct buffer *buffer, const void *bytes, size_t len) {
  if (!len || (len > buffer->capacity - buffer->len && !buffer_grow(buffer, len)) || buffer->failed)
    return;
  memcpy(buffer->bytes + buffer->len, bytes, len);
  buffer->len += len;
}

static inline void buffer_text(struct buffer *buffer, const char *text) {
  buffer_append(buffer, text, strlen(text));
}

static inline void buffer_span(struct buffer *buffer, struct tidings_span span) {
  buffer_append(buffer, span.ptr, span.len);
}

static inline void buffer_byte(struct buffer *buffer, char byte) {
  buffer_append(buffer, &byte, 1);
}

static inline struct tidings_span buffer_view(const struct buffer *buffer) {
  return span_of(buffer->bytes, buffer->len);
}

#endif
