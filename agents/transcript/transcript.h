/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/transcript.h: reads lines of the file in which an agent keeps a session. It
 * does not interpret them.
 */
#ifndef AGENTS_TRANSCRIPT_TRANSCRIPT_H
#define AGENTS_TRANSCRIPT_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/span.h"

/* The end of a file, in lines. */
struct hook_lines {
  struct tidings_span text; /* complete lines; it begins with a line */
  size_t cut;               /* bytes before it that belong to a line whose beginning was not read */
  bool whole;               /* the text begins where the file begins */
  char *read;               /* owns the text */
};

/* Reads the last `most` bytes, or all of a smaller file. Returns -1: there is no such file, it
 * cannot be read, or there is no memory. */
int hook_lines_read(const char *path, size_t most, struct hook_lines *ret_lines);
void hook_lines_finish(struct hook_lines *lines);

#endif
