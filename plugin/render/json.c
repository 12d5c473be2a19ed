/* SPDX-License-Identifier: MIT
 *
 * render/json.c: the format `json`: one object in a code fence, with a line for each notification.
 */
#include "render/age.h"
#include "render/escape.h"
#include "render/formats.h"

static void write_member(const char *name, struct tidings_span value, struct buffer *out) {
  buffer_format(out, "\"%s\": ", name);
  escape_json_string(value, out);
}

static void write_notification(const struct render_input *input, const struct line *line,
                               struct buffer *out) {
  const struct notification *note = &line->item->note;
  struct age age = render_age(input, line);
  buffer_text(out, "  {");
  write_member("source", note->source, out);
  buffer_text(out, ", ");
  if (note->name.len) {
    write_member("name", note->name, out);
    buffer_text(out, ", ");
  }
  write_member("level", span_text(level_name(line->level)), out);
  buffer_text(out, ", ");
  if (age.len) {
    write_member("age", span_of(age.text, age.len), out);
    buffer_text(out, ", ");
  }
  write_member("message", line->message, out);
  buffer_byte(out, '}');
}

void render_json(const struct render_input *input, struct buffer *out) {
  buffer_text(out, "```json\n{");
  if (input->nonce.len) {
    write_member("nonce", input->nonce, out);
    buffer_text(out, ", ");
  }
  buffer_text(out, "\"system_notifications\": [\n");
  for (size_t i = 0; i < input->line_count; i++) {
    write_notification(input, &input->lines[i], out);
    buffer_text(out, i + 1 < input->line_count ? ",\n" : "\n");
  }
  buffer_byte(out, ']');
  if (input->deferred) buffer_format(out, ", \"pending\": %zu", input->deferred);
  buffer_text(out, "}\n```");
}
