/* SPDX-License-Identifier: MIT
 *
 * render/render.h: a plan's lines to the bytes that the model sees, one file per format. Pure. All text in a line is hostile until
 * escape.c has had it: it can never end a block, start another or forge a header.
 */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include "base/buffer.h"
#include "policy/plan.h"

struct render_input {
  const struct line *lines;
  size_t line_count;
  size_t deferred;               /* > 0: the last line says so */
  struct tidings_span host_name; /* empty: "the agent host" */
  uint8_t format, order, place;  /* enum format, enum order, TIDINGS_PLACE_PREPEND or _APPEND */
};

/* Appends the text of the one message with role TIDINGS_MESSAGE_CARRIER: separators included, so that the host only concatenates.
 * Prepended: the block, its closing line, an empty line. Appended: an empty line (two line feeds), then the block. A buffer without
 * memory is `failed`. */
void render_carrier_text(const struct render_input *input, struct buffer *out);

#endif
