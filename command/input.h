/* SPDX-License-Identifier: MIT
 *
 * command/input.h: reads an endless input line by line, in bounded memory.
 */
#ifndef COMMAND_INPUT_H
#define COMMAND_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buffer.h"

enum { LONGEST_LINE = 1 << 20 }; /* unless `longest` says otherwise */

struct input {
  struct buffer text; /* bytes that were read and are not taken yet */
  size_t taken;       /* how many bytes of `text` were taken */
  size_t longest;     /* the most bytes of a line; 0: LONGEST_LINE */
  bool too_long;      /* the line that is being read is too long, so its rest is skipped */
};

/* Adds what was read. False: no memory. */
bool input_add(struct input *input, const char *bytes, size_t len);
/* Takes the next whole line, without its line break; it stays valid until input_add. *ret_too_long:
 * the line was too long, and is left out. False: there is no whole line yet. */
bool input_next(struct input *input, struct tidings_span *ret_line, bool *ret_too_long);
/* To be called at the end of the input: returns the last line, if it has no line break. */
struct tidings_span input_rest(const struct input *input);
void input_free(struct input *input);

#endif
