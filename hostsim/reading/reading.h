/* SPDX-License-Identifier: MIT
 *
 * reading/reading.h: reads the parts of a reply as a model would, from bytes back to lines, so that
 * tests can compare the rendered text with what it should say. It follows the documents, without
 * the plugin's code. Anything that the format does not allow is a problem: a second fence, a line
 * outside the list, text after the end.
 */
#ifndef HOSTSIM_READING_H
#define HOSTSIM_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"

struct reading_part {
  uint32_t voice, place; /* as in struct tidings_part */
  struct tidings_span text;
};

/* A notification, or several that share a line. */
struct reading_line {
  struct tidings_span text;         /* without entities and indentation; with backslashes */
  struct tidings_span source, name; /* empty if the format does not show them */
  struct tidings_span age;          /* "12 min ago", if it is not in the text */
  uint8_t least, most;              /* the lowest and highest level that the format's text allows */
};

struct reading {
  struct reading_line *lines;
  size_t line_count;
  struct tidings_span *steered; /* messages of the user, with backslashes and entities */
  size_t steered_count;
  size_t waiting;        /* "(4 more notifications pending)" */
  size_t showing, total; /* the numbers in an opening tag; both 0: there are none */
  size_t bytes;          /* the bytes of all parts */
  const char *problem;   /* NULL: the parts are as the format demands */
};

/* `format` is as in the configuration; `nonce` is the fence's, or empty. The result is in the
 * arena. Returns 0, or -1: no memory. */
int reading_of_parts(const char *format, struct tidings_span nonce,
                     const struct reading_part *parts, size_t count, struct arena *arena,
                     struct reading *ret_reading);

/* Appends only the characters that escaping never adds or changes: printable ASCII, without blanks,
 * backslashes, entities and code points such as {U+202E}. So a text gives the same result before
 * and after escaping. If memory runs out, the buffer is `failed`. */
struct buffer;
void reading_write_bare(struct tidings_span text, struct buffer *out);

#endif
