/* SPDX-License-Identifier: MIT
 *
 * render/synthetic_call.c: the format `synthetic-call`: each notification is the result of a call
 * that the model did not make. Its level stands in front, unless it is info; the last one says how
 * many wait.
 */
#include "render/escape.h"
#include "render/formats.h"

void render_call(const struct render_input *input, const struct line *line, bool last,
                 struct buffer *out) {
  if (input->nonce.len) {
    buffer_byte(out, '[');
    buffer_span(out, input->nonce);
    buffer_text(out, "] ");
  }
  if (line->level != TIDINGS_LEVEL_INFO) buffer_format(out, "[%s] ", level_name(line->level));
  render_line_text(input, ESCAPE_CALL, line, out);
  if (!last || !input->deferred) return;
  buffer_byte(out, '\n');
  render_pending_line(input->deferred, out);
  if (!out->failed) out->len--; /* its line feed */
}
