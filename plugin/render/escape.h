/* SPDX-License-Identifier: MIT
 *
 * render/escape.h: making text from outside harmless inside a markdown block.
 */
#ifndef RENDER_ESCAPE_H
#define RENDER_ESCAPE_H

#include "base/buffer.h"

/* A list item's text, after its "- ": deceptive characters and broken UTF-8 shown as {U+202E} or {0xFF}; a line break becomes an indented
 * continuation; a line start that would read as a fence, a header, a list item, a quote, a tag or a forged group title gets a backslash;
 * tags that name structure (system-reminder, notification…) are neutralized wherever they stand. */
void escape_markdown_item(struct tidings_span text, struct buffer *out);

/* A name inside a sentence or title (the host's): one line, no markup. */
void escape_markdown_inline(struct tidings_span text, struct buffer *out);

#endif
