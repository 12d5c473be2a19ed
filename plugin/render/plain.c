/* SPDX-License-Identifier: MIT
 *
 * render/plain.c: the format `plain`: a statement of fact and a list, in the plan's order. Each
 * level but info is written in front. The block does not claim to be the system and asks for
 * nothing, because models take such text from outside for an attack.
 */
#include <tidings/reply.h>

#include "render/escape.h"
#include "render/formats.h"

static void write_header(const struct render_input *input, struct buffer *out) {
  buffer_text(out, RENDER_PLAIN_HEADER);
  if (input->nonce.len) buffer_format(out, ", nonce %.*s", SPAN_FORMAT(input->nonce));
  buffer_text(out, "):\n");
}

void render_plain(const struct render_input *input, struct buffer *out) {
  write_header(input, out);
  for (size_t i = 0; i < input->line_count; i++) {
    const struct line *line = &input->lines[i];
    buffer_text(out, "- ");
    if (line->level != TIDINGS_LEVEL_INFO) buffer_format(out, "[%s] ", level_name(line->level));
    render_line_text(input, ESCAPE_CALL, line, out);
    buffer_byte(out, '\n');
  }
  render_pending_line(input->deferred, out);
  /* Text of the carrier's follows, which may begin as an item does. */
  if (input->place == TIDINGS_PLACE_PREPEND) render_markdown_fence(input, out);
  else if (!out->failed) out->len--; /* the last line feed */
}
