/* SPDX-License-Identifier: MIT
 *
 * render/structure.h: does a line of an item's text read as a part of a block, such as a rule, a
 * list item or a level?
 */
#ifndef RENDER_STRUCTURE_H
#define RENDER_STRUCTURE_H

#include "common/span.h"
#include "render/escape.h"

/* The place where a trimmed line needs a backslash so that it does not read as structure; NO_MARK:
 * nowhere. */
size_t structure_mark(enum escape where, struct tidings_span line);

/* The same for an indented line after an item's first line. There marks of lists, quotes and tables
 * start nothing. Returns 0 if the text after such marks is structure. *ret_text: where that text
 * begins. */
size_t structure_inner_mark(enum escape where, struct tidings_span line, size_t *ret_text);

#endif
