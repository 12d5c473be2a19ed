/* SPDX-License-Identifier: MIT
 *
 * reading/reading.h: what a model reads in the parts of a reply, found by means of its own: from
 * the bytes back to lines. It knows the formats as documents show them and none of the plugin's
 * code, so that tests can compare what was rendered with what it should say. Anything that no block
 * of that format has is a problem: a second fence, a line outside of the list, text after the end.
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
  struct tidings_span source, name; /* where the format shows them; else empty */
  struct tidings_span age;          /* "12 min ago", where it is not in the text */
  uint8_t least, most;              /* between which levels it is, as far as the format says */
};

struct reading {
  struct reading_line *lines;
  size_t line_count;
  struct tidings_span *steered; /* what the user says, with backslashes and entities */
  size_t steered_count;
  size_t waiting;        /* "(4 more notifications pending)" */
  size_t showing, total; /* as an opening tag says; both 0: it does not */
  size_t bytes;          /* of all parts */
  const char *problem;   /* NULL: the parts are what the format says */
};

/* `format` as in the configuration. `nonce`: of the fence, or empty. All is in the arena. Returns
 * 0, or -1: no memory. */
int reading_of_parts(const char *format, struct tidings_span nonce,
                     const struct reading_part *parts, size_t count, struct arena *arena,
                     struct reading *ret_reading);

/* The rest of a text, or of its source, without everything that escaping adds or changes: its
 * printable ASCII characters, without blanks, backslashes, entities and shown code points. Equal
 * for a text before and after escaping. Appended; a buffer without memory is `failed`. */
struct buffer;
void reading_write_bare(struct tidings_span text, struct buffer *out);

#endif
