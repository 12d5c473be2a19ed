/* SPDX-License-Identifier: MIT
 *
 * render/formats.h: one function for each format: it writes the block from its opening line to its
 * closing one, without the line feed after that. Private to render/.
 */
#ifndef RENDER_FORMATS_H
#define RENDER_FORMATS_H

#include "render/escape.h"
#include "render/render.h"

/* The beginning of a plain block; after it "):", or the nonce. */
#define RENDER_PLAIN_HEADER "While you worked (not from the user"

void render_markdown(const struct render_input *input,
                     struct buffer *out); /* openai and anthropic too */
void render_markdown_flat(const struct render_input *input, struct buffer *out);
void render_xml(const struct render_input *input, struct buffer *out);
void render_xml_batch(const struct render_input *input, struct buffer *out);
void render_json(const struct render_input *input, struct buffer *out);
void render_system_reminder(const struct render_input *input, struct buffer *out);
void render_plain(const struct render_input *input, struct buffer *out);
bool render_plain_shows_source(const struct notification *note);
/* The result of one synthetic call. */
void render_call(const struct render_input *input, const struct line *line, bool last,
                 struct buffer *out);

/* A single steered message. */
void render_steered(const struct render_input *input, struct tidings_span message,
                    struct buffer *out);

/* The words for several. */
/* A line's message and, after its first line, how long ago it happened: "(12 min ago)". */
void render_line_text(const struct render_input *input, enum escape where, const struct line *line,
                      struct buffer *out);
void render_host_name(const struct render_input *input,
                      struct buffer *out); /* or "the agent host" */
/* An empty line and the sentences at a block's beginning; nothing in a bare one. A system-reminder
 * has no empty line there. */
void render_preamble(const struct render_input *input, struct buffer *out);
void render_markdown_fence(const struct render_input *input, struct buffer *out);
void render_pending_line(
    size_t deferred,
    struct buffer *out); /* "(4 more notifications pending)" and a line feed, or nothing */
void render_nonce_attribute(const struct render_input *input,
                            struct buffer *out); /* with a blank in front, or nothing */

#endif
