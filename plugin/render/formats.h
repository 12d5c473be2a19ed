/* SPDX-License-Identifier: MIT
 *
 * render/formats.h: one function a format: the block from its opening line to its closing one,
 * without the line feed after that. Private to render/.
 */
#ifndef RENDER_FORMATS_H
#define RENDER_FORMATS_H

#include "render/render.h"

void render_markdown(const struct render_input *input, struct buffer *out);
void render_markdown_flat(const struct render_input *input, struct buffer *out);
void render_xml(const struct render_input *input, struct buffer *out);
void render_xml_batch(const struct render_input *input, struct buffer *out);
void render_json(const struct render_input *input, struct buffer *out);
void render_system_reminder(const struct render_input *input, struct buffer *out);
void render_own_message(const struct render_input *input,
                        struct buffer *out); /* openai and anthropic */
/* The result of one synthetic call. */
void render_call(const struct render_input *input, const struct line *line, bool last,
                 struct buffer *out);

/* One steered message. */
void render_steered(const struct render_input *input, struct tidings_span message,
                    struct buffer *out);

/* What several say. */
void render_host_name(const struct render_input *input,
                      struct buffer *out); /* or "the agent host" */
void render_markdown_fence(const struct render_input *input, struct buffer *out);
void render_markdown_title(const struct render_input *input,
                           struct buffer *out); /* "**JP System Notifications**" */
void render_markdown_levels(const struct render_input *input,
                            struct buffer *out); /* a list for each level */
void render_pending_line(
    size_t deferred,
    struct buffer *out); /* "(4 more notifications pending)" and a line feed, or nothing */
void render_nonce_attribute(const struct render_input *input,
                            struct buffer *out); /* with a blank in front, or nothing */

#endif
