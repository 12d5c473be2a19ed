/* SPDX-License-Identifier: MIT
 *
 * render/xml.c: the formats `xml`, an element for each notification, and `xml-batch`, one element
 * with a list.
 */
#include "render/escape.h"
#include "render/formats.h"

static void write_attribute(const char *name, struct tidings_span value, struct buffer *out) {
  buffer_format(out, " %s=\"", name);
  escape_xml_attribute(value, out);
  buffer_byte(out, '"');
}

void render_nonce_attribute(const struct render_input *input, struct buffer *out) {
  if (input->nonce.len) write_attribute("nonce", input->nonce, out);
}

static void write_element(const struct render_input *input, const struct line *line,
                          struct buffer *out) {
  const struct notification *note = &line->item->note;
  buffer_text(out, "<notification");
  write_attribute("source", note->source, out);
  if (note->name.len) write_attribute("name", note->name, out);
  if (line->level != TIDINGS_LEVEL_INFO)
    write_attribute("level", span_text(level_name(line->level)), out);
  render_nonce_attribute(input, out);
  buffer_text(out, ">\n");
  render_line_text(input, ESCAPE_XML, line, out);
  buffer_text(out, "\n</notification>");
}

void render_xml(const struct render_input *input, struct buffer *out) {
  for (size_t i = 0; i < input->line_count; i++) {
    if (i) buffer_text(out, "\n\n");
    write_element(input, &input->lines[i], out);
  }
  if (!input->deferred) return;
  buffer_text(out, "\n\n");
  render_pending_line(input->deferred, out);
  if (!out->failed) out->len--; /* its line feed */
}

void render_xml_batch(const struct render_input *input, struct buffer *out) {
  if (input->deferred)
    buffer_format(out, "<notifications showing=\"%zu\" total=\"%zu\"", input->line_count,
                  input->line_count + input->deferred);
  else buffer_format(out, "<notifications count=\"%zu\"", input->line_count);
  render_nonce_attribute(input, out);
  buffer_text(out, ">\n");
  for (size_t i = 0; i < input->line_count; i++) {
    buffer_text(out, "- [");
    escape_xml_inline(input->lines[i].item->note.source, out);
    buffer_text(out, input->lines[i].level == TIDINGS_LEVEL_CRITICAL ? "] [critical] " : "] ");
    render_line_text(input, ESCAPE_XML, &input->lines[i], out);
    buffer_byte(out, '\n');
  }
  render_pending_line(input->deferred, out);
  buffer_text(out, "</notifications>");
}
