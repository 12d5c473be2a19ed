/* SPDX-License-Identifier: MIT
 *
 * render/lookalike.h: finds text that a model could take for a part of its conversation, or of a
 * block of ours, in any format. Changes nothing. Private to render/.
 *
 * All functions see a text as it looks (fold.h): through characters that nobody sees, letters of
 * other scripts that look like ASCII, escapes of JSON, and words that are broken over lines. `text`
 * is the whole rest of the text, so that they can look beyond a line.
 */
#ifndef RENDER_LOOKALIKE_H
#define RENDER_LOOKALIKE_H

#include "render/fold.h"

static const size_t NO_MARK = SIZE_MAX;

/* At a '<': does it open structure of a conversation, such as <system> or <tool_result>? */
bool lookalike_reserved_tag(struct tidings_span text, size_t at);
/* At the beginning of a line: is it "(4 more notifications pending)"? */
bool lookalike_pending_line(struct tidings_span text, size_t at);
/* At the beginning of a line: is it "While you worked (not from the user):"? */
bool lookalike_plain_header(struct tidings_span text, size_t at);

/* At a '<': is it a tag of ours, opening or closing, such as <notification>? */
bool lookalike_block_tag(struct tidings_span text, size_t at);
/* At a quote or an underscore: is it a key of our JSON, or the name of our call? Not after a
 * backslash. */
bool lookalike_key(struct tidings_span text, size_t at);

/* A line from `begin` on: where it ends, and where the next one begins. */
size_t lookalike_line_end(struct tidings_span text, size_t begin);
size_t lookalike_line_after(struct tidings_span text, size_t end);

/* When a line of dashes counts as a fence of ours: only if a title follows, or always. */
enum fences { FENCES_WITH_TITLE, FENCES_ALL };
/* If the line begin..end reads as a line of our blocks (a fence, a title, a heading, a count, a
 * header, a marker), returns the place of its first visible character. Else NO_MARK. */
size_t lookalike_line_mark(enum fences fences, struct tidings_span text, size_t begin, size_t end);

#endif
