/* SPDX-License-Identifier: MIT
 */
#include "subscribe/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void outputs_begin(struct outputs *outputs) {
  arena_free(&outputs->arena);
  *outputs = (struct outputs){.failed = false};
}

void outputs_free(struct outputs *outputs) { outputs_begin(outputs); }

struct output *outputs_add(struct outputs *outputs, enum output_kind kind) {
  static struct output lost;
  struct output *row = &lost;
  if (outputs->count == outputs->capacity) {
    struct output *larger =
        arena_enlarge(&outputs->arena, outputs->rows, &outputs->capacity, sizeof *larger);
    if (larger) outputs->rows = larger;
  }
  if (outputs->count < outputs->capacity) row = &outputs->rows[outputs->count++];
  else outputs->failed = true;
  *row = (struct output){.kind = kind};
  return row;
}

struct tidings_span outputs_format(struct outputs *outputs, const char *format, ...) {
  struct tidings_span text = span_of(NULL, 0);
  char *made = NULL;
  va_list arguments;
  va_start(arguments, format);
  int len = vasprintf(&made, format, arguments);
  va_end(arguments);
  if (len < 0) {
    outputs->failed = true;
    return text;
  }
  text = outputs_copy(outputs, span_of(made, (size_t)len));
  free(made);
  return text;
}

struct tidings_span outputs_copy(struct outputs *outputs, struct tidings_span text) {
  struct tidings_span copy = span_of(NULL, 0);
  if (arena_copy(&outputs->arena, text, &copy)) outputs->failed = true;
  return copy;
}
