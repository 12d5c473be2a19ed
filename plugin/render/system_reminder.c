/* SPDX-License-Identifier: MIT
 *
 * render/system_reminder.c: the format `system-reminder`: one list, each item with its level, in
 * the tag that some models know.
 */
#include "render/escape.h"
#include "render/formats.h"

void render_system_reminder(const struct render_input *input, struct buffer *out) {
  buffer_text(out, "<system-reminder");
  render_nonce_attribute(input, out);
  buffer_text(out, ">\n");
  render_preamble(input, out);
  if (!input->bare) buffer_byte(out, '\n');
  for (size_t i = 0; i < input->line_count; i++) {
    buffer_format(out, "- [%s] ", level_name(input->lines[i].level));
    render_line_text(input, ESCAPE_XML, &input->lines[i], out);
    buffer_byte(out, '\n');
  }
  render_pending_line(input->deferred, out);
  buffer_text(out, "</system-reminder>");
}
