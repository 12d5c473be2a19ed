/* SPDX-License-Identifier: MIT
 *
 * render/markdown_flat.c: the format `markdown-flat`: one list in the plan's order, levels not
 * shown.
 */
#include "render/formats.h"

void render_markdown_flat(const struct render_input *input, struct buffer *out) {
  render_markdown_fence(input, out);
  buffer_text(out, "\n**system notifications**\n");
  render_preamble(input, out);
  if (!input->bare) buffer_byte(out, '\n');
  for (size_t i = 0; i < input->line_count; i++) {
    buffer_text(out, "- ");
    render_line_text(input, ESCAPE_MARKDOWN, &input->lines[i], out);
    buffer_byte(out, '\n');
  }
  render_pending_line(input->deferred, out);
  render_markdown_fence(input, out);
}
