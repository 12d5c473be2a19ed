/* SPDX-License-Identifier: MIT
 *
 * excerpt/lines.h: the output of a command, line by line, in bounded memory.
 */
#ifndef CLI_EXCERPT_LINES_H
#define CLI_EXCERPT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

enum { LINE_BYTES = 4096 };

/* Takes line `number` of the output (from 1). `text`: the result of plain_text, without blanks at
 * the end and without a line break; valid during the call. `long_line`: the line had more than
 * LINE_BYTES, and this is its beginning. */
typedef void lines_take(void *context, uint64_t number, struct tidings_span text, bool long_line);

/* Zero it to begin. */
struct lines {
  char bytes[LINE_BYTES];
  size_t len;
  size_t segment;  /* where the text after the last carriage return starts */
  bool long_line;  /* the rest of the line was left out */
  bool returned;   /* a carriage return came: the next byte overwrites the line's first */
  uint64_t number; /* how many complete lines came so far */
};

/* Gives `take` each line that is complete. Text that a carriage return overwrites is kept only if
 * it matters. */
void lines_add(struct lines *lines, const char *bytes, size_t len, lines_take *take, void *context);
/* Gives `take` a last line without a line break, and keeps it. */
void lines_rest(const struct lines *lines, lines_take *take, void *context);

#endif
