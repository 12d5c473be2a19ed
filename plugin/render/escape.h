/* SPDX-License-Identifier: MIT
 *
 * render/escape.h: makes untrusted text harmless in each format. In all of them deceptive
 * characters and broken UTF-8 are shown as {U+202E} or {0xFF}.
 */
#ifndef RENDER_ESCAPE_H
#define RENDER_ESCAPE_H

#include "common/buffer.h"

/* The surroundings of an item's text: a list or block of markdown, an XML element, the result of a
 * call or a plain list. */
enum escape { ESCAPE_MARKDOWN, ESCAPE_XML, ESCAPE_CALL };

/* An item's text, which may stand at the start of a line. A line break becomes a continuation,
 * indented by two blanks and by the line's own indentation. A line start that would read as a
 * fence, a header, a list item, a quote, a tag or a forged group title gets a backslash; outside of
 * markdown, so does a forged level. Tags that name structure (system-reminder, notification…) are
 * neutralized wherever they stand. In XML all of < > & become entities. */
void escape_item(enum escape where, struct tidings_span text, struct buffer *out);
/* The same with "(12 min ago)" after the first line; `age` is ours; empty: nothing. */
void escape_item_aged(enum escape where, struct tidings_span text, struct tidings_span age,
                      struct buffer *out);
static inline void escape_markdown_item(struct tidings_span text, struct buffer *out) {
  escape_item(ESCAPE_MARKDOWN, text, out);
}

/* A name inside a sentence or title (the host's): one line, no markup. */
void escape_markdown_inline(struct tidings_span text, struct buffer *out);
/* The same, with entities, for a name between tags. */
void escape_xml_inline(struct tidings_span text, struct buffer *out);
/* The text between the quotes of an attribute. */
void escape_xml_attribute(struct tidings_span text, struct buffer *out);
/* A JSON string, quotes included, that holds neither a tag nor a code fence. */
void escape_json_string(struct tidings_span text, struct buffer *out);

/* Will the character be written in the form {U+200B}, so that it hides nothing? True for a
 * variation selector, which must follow an ASCII character. False for a tab, which an item shows as
 * a blank. */
bool escape_shows(struct tidings_span text, size_t at);

#endif
