/* SPDX-License-Identifier: MIT
 *
 * render/measure.h: how many bytes a block will have, without rendering the block again for each
 * line that it may get. A line is rendered once, alone in a block; what a block of several lines is
 * longer or shorter than the sum of such blocks was measured on small ones. It knows nothing of how
 * a format looks, but that xml-batch says how many lines it has.
 */
#ifndef RENDER_MEASURE_H
#define RENDER_MEASURE_H

#include "common/buffer.h"
#include "render/render.h"

struct measure {
  const struct render_input *frame; /* a block's surroundings: all but lines, their number and the
                                       number of those that wait; borrowed */
  struct buffer scratch;
  int64_t next[LEVEL_COUNT]; /* a line joins others of its level: its own block's bytes and this */
  int64_t first;             /* it joins lines of other levels */
  uint64_t alone;            /* the largest block with one line of one letter */
  uint64_t pending;          /* what a block with one line gets for .. */
  size_t pending_for;        /* .. so many lines that wait */
};

/* The content of a block. */
struct measured {
  uint64_t bytes; /* with nothing that waits */
  size_t count, of_level[LEVEL_COUNT];
};

/* Takes memory that render_measure_end gives back, also after a failure. Those that return int
 * return 0, or -1: no memory. */
int render_measure_begin(struct measure *measure, const struct render_input *frame);
void render_measure_end(struct measure *measure);

/* The bytes of a block with this line alone. */
int render_measure_line(struct measure *measure, const struct line *line, uint64_t *ret_bytes);
/* Adds a line whose block has so many bytes. */
void render_measure_add(const struct measure *measure, struct measured *block, uint64_t bytes,
                        unsigned level);
/* The bytes of the block, if so many lines wait. */
int render_measure_block(struct measure *measure, const struct measured *block, size_t deferred,
                         uint64_t *ret_bytes);

#endif
