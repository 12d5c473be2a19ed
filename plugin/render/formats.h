/* SPDX-License-Identifier: MIT
 *
 * render/formats.h: one function a format: the block from its opening line to its closing one, without the line feed behind that.
 * Private to render/.
 */
#ifndef RENDER_FORMATS_H
#define RENDER_FORMATS_H

#include "render/render.h"

void render_markdown(const struct render_input *input, struct buffer *out);
void render_markdown_flat(const struct render_input *input, struct buffer *out);

/* What both say: "(4 more notifications pending)" and a line feed, or nothing. */
void render_pending_line(size_t deferred, struct buffer *out);

#endif
