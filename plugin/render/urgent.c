/* SPDX-License-Identifier: MIT
 */
#include "render/urgent.h"

#include "render/escape.h"

int render_urgent_message(const struct notification *note, struct arena *arena,
                          struct tidings_span *ret_text) {
  bool critical = note->level == TIDINGS_LEVEL_CRITICAL;
  struct buffer text = BUFFER_EMPTY;
  buffer_text(&text, critical ? "Critical notification" : "Notification");
  if (note->source.len) buffer_text(&text, " (");
  escape_markdown_inline(note->source, &text);
  if (note->name.len) buffer_byte(&text, '.');
  escape_markdown_inline(note->name, &text);
  if (note->source.len) buffer_byte(&text, ')');
  buffer_text(&text, "; see the notifications in this message.");
  int code = text.failed || arena_copy(arena, buffer_view(&text), ret_text) ? -1 : 0;
  buffer_free(&text);
  return code;
}
