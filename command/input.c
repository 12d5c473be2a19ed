/* SPDX-License-Identifier: MIT
 */
#include "command/input.h"

#include <string.h>

static size_t left(const struct input *input) { return input->text.len - input->taken; }

bool input_add(struct input *input, const char *bytes, size_t len) {
  struct buffer *text = &input->text;
  if (input->taken) {
    memmove(text->bytes, text->bytes + input->taken, left(input));
    text->len = left(input);
    input->taken = 0;
  }
  if (!input->too_long) buffer_append(text, bytes, len);
  else {
    const char *end = memchr(bytes, '\n', len);
    if (end) buffer_append(text, end, len - (size_t)(end - bytes));
  }
  return !text->failed;
}

bool input_next(struct input *input, struct tidings_span *ret_line, bool *ret_too_long) {
  const char *begin = input->text.bytes + input->taken;
  const char *end = left(input) ? memchr(begin, '\n', left(input)) : NULL;
  if (!end) {
    if (left(input) <= (input->longest ? input->longest : LONGEST_LINE)) return false;
    input->too_long = true;
    input->taken = input->text.len;
    return false;
  }
  *ret_too_long = input->too_long;
  *ret_line = span_of(begin, (size_t)(end - begin));
  input->taken += (size_t)(end - begin) + 1;
  input->too_long = false;
  return true;
}

struct tidings_span input_rest(const struct input *input) {
  return input->too_long || !left(input) ? span_of(NULL, 0)
                                         : span_of(input->text.bytes + input->taken, left(input));
}

void input_free(struct input *input) { buffer_free(&input->text); }
