/* SPDX-License-Identifier: MIT
 *
 * render/render.c: which format, and the separators between the block and the carrier's own text.
 */
#include "render/render.h"

#include <tidings/reply.h>

#include "render/formats.h"

void render_pending_line(size_t deferred, struct buffer *out) {
  if (deferred) buffer_format(out, "(%zu more notification%s pending)\n", deferred, deferred == 1 ? "" : "s");
}

static struct tidings_span trim(struct tidings_span name) {
  while (name.len && name.ptr[0] == ' ') name = span_of(name.ptr + 1, name.len - 1);
  while (name.len && name.ptr[name.len - 1] == ' ') name.len--;
  return name;
}

void render_carrier_text(const struct render_input *input, struct buffer *out) {
  static void (*const formats[])(const struct render_input *,
                                 struct buffer *) = {[FORMAT_MARKDOWN] = render_markdown, [FORMAT_MARKDOWN_FLAT] = render_markdown_flat};
  bool append = input->place == TIDINGS_PLACE_APPEND;
  struct render_input trimmed = *input;
  if (!input->line_count) return;
  trimmed.host_name = trim(input->host_name);
  if (append) buffer_text(out, "\n\n");
  formats[input->format](&trimmed, out);
  if (!append) buffer_text(out, "\n\n");
}
