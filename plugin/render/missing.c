/* SPDX-License-Identifier: MIT
 */
#include "render/missing.h"

#include "common/utf8.h"

void render_cut_text(struct tidings_span whole, size_t kept, struct buffer *out) {
  kept = utf8_prefix(whole, kept);
  buffer_append(out, whole.ptr, kept);
  buffer_format(out, "… (%zu more bytes)", whole.len - kept);
}

int render_cut(struct arena *arena, struct tidings_span whole, size_t kept,
               struct tidings_span *ret) {
  struct buffer text = BUFFER_EMPTY;
  render_cut_text(whole, kept, &text);
  int code = text.failed || arena_copy(arena, buffer_view(&text), ret) ? -1 : 0;
  buffer_free(&text);
  return code;
}

struct tidings_span render_lost_content(void) {
  return span_text("(the text of this message was lost: its record in the store is damaged)");
}
