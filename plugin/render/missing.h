/* SPDX-License-Identifier: MIT
 *
 * render/missing.h: the text that replaces content that was cut off or lost.
 */
#ifndef RENDER_MISSING_H
#define RENDER_MISSING_H

#include "common/arena.h"
#include "common/buffer.h"

/* Write the first `kept` bytes of `whole`, or fewer, so that no character is split, and then "… (N
 * more bytes)", which does not count. render_cut returns 0, or -1: no memory. */
void render_cut_text(struct tidings_span whole, size_t kept, struct buffer *out);
int render_cut(struct arena *arena, struct tidings_span whole, size_t kept,
               struct tidings_span *ret);

/* Returns the text in place of a message's content whose record is damaged. */
struct tidings_span render_lost_content(void);

#endif
