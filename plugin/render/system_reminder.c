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
  buffer_text(out, ">\nThese are automated system messages from ");
  if (input->host_name.len) escape_xml_inline(input->host_name, out);
  else render_host_name(input, out);
  buffer_text(out,
              ", unrelated to the text beside them.\n"
              "You can ignore irrelevant notifications — they will NOT be delivered again.\n\n");
  for (size_t i = 0; i < input->line_count; i++) {
    buffer_format(out, "- [%s] ", level_name(input->lines[i].level));
    escape_item(ESCAPE_XML, input->lines[i].message, out);
    buffer_byte(out, '\n');
  }
  render_pending_line(input->deferred, out);
  buffer_text(out, "</system-reminder>");
}
