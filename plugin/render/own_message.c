/* SPDX-License-Identifier: MIT
 *
 * render/own_message.c: the formats `openai` and `anthropic`: as markdown, in words for a message
 * or block that is not part of another text.
 */
#include "render/formats.h"

void render_own_message(const struct render_input *input, struct buffer *out) {
  render_markdown_fence(input, out);
  buffer_byte(out, '\n');
  render_markdown_title(input, out);
  buffer_text(out, "\n\nThese are automated system messages from ");
  render_host_name(input, out);
  buffer_text(out,
              ", not from the user. They are\n"
              "delivered to make you aware of them. You can ignore irrelevant notifications —\n"
              "they will NOT be delivered again.\n");
  render_markdown_levels(input, out);
  render_pending_line(input->deferred, out);
  render_markdown_fence(input, out);
}
