/* SPDX-License-Identifier: MIT
 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *hk_format(const char *format, ...) {
  va_list args;
  va_start(args, format);
  int len = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *text = len < 0 ? NULL : malloc((size_t)len + 1);
  if (!text) return NULL;
  va_start(args, format);
  (void)vsnprintf(text, (size_t)len + 1, format, args);
  va_end(args);
  return text;
}

char *hk_copy_text(const char *text, size_t len) {
  char *copy = malloc(len + 1);
  if (!copy) return NULL;
  if (len) memcpy(copy, text, len);
  copy[len] = '\0';
  return copy;
}

struct tidings_span hk_span(const char *text) {
  return (struct tidings_span){.ptr = text, .len = text ? strlen(text) : 0};
}

bool hk_span_is_sound(const struct tidings_span *span) {
  return span && (span->ptr || span->len == 0);
}
