/* SPDX-License-Identifier: MIT
 *
 * render/markdown_flat.c: the format `markdown-flat`: one list in the plan's order, levels not
 * shown.
 */
#include "render/escape.h"
#include "render/formats.h"

void render_markdown_flat(const struct render_input *input, struct buffer *out) {
  render_markdown_fence(input, out);
  buffer_text(out, "\n**system notifications**\n\nThese are automated system messages from ");
  render_host_name(input, out);
  buffer_text(out, ", unrelated to the response\n"
                   "which follows below. They are delivered in this message to make you aware\n"
                   "of them. You can ignore irrelevant notifications — they will NOT be\n"
                   "delivered again.\n\n");
  for (size_t i = 0; i < input->line_count; i++) {
    buffer_text(out, "- ");
    escape_markdown_item(input->lines[i].message, out);
    buffer_byte(out, '\n');
  }
  render_pending_line(input->deferred, out);
  render_markdown_fence(input, out);
}
