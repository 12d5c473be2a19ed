/* SPDX-License-Identifier: MIT
 *
 * render/measure.h: how many bytes a block will have, without rendering the block again for each
 * line that it may get. Each line is rendered once, alone in a block. The difference between a
 * block of several lines and the sum of such blocks is measured on small blocks. It knows nothing
 * about the formats, except that xml-batch states its number of lines.
 */
#ifndef RENDER_MEASURE_H
#define RENDER_MEASURE_H

#include "common/buffer.h"
#include "render/render.h"

struct measure {
  const struct render_input *frame; /* a block's surroundings: all but lines, their number and the
                                       number of those that wait; borrowed */
  struct buffer scratch;
  int64_t next[LEVEL_COUNT]; /* added to the bytes of a line's own block, when the line joins others
                                of its level */
  int64_t first;             /* the same, when it joins lines of other levels only */
  uint64_t alone;            /* the largest block with one line of one letter */
  uint64_t pending;          /* how many bytes a block with one line grows by if .. */
  size_t pending_for;        /* .. this many lines wait */
};

/* The content of a block. */
struct measured {
  uint64_t bytes; /* with nothing that waits */
  size_t count, of_level[LEVEL_COUNT];
};

/* Takes memory that render_measure_end gives back, also after a failure. Functions that return int
 * return 0, or -1: no memory. */
int render_measure_begin(struct measure *measure, const struct render_input *frame);
void render_measure_end(struct measure *measure);

/* The bytes of a block with this line alone. */
int render_measure_line(struct measure *measure, const struct line *line, uint64_t *ret_bytes);
/* Adds a line whose own block has `bytes` bytes. */
void render_measure_add(const struct measure *measure, struct measured *block, uint64_t bytes,
                        unsigned level);
/* The bytes of the block, if `deferred` lines wait. */
int render_measure_block(struct measure *measure, const struct measured *block, size_t deferred,
                         uint64_t *ret_bytes);

#endif
