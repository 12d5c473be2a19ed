/* SPDX-License-Identifier: MIT
 */
#include "render/urgent.h"

#include "common/buffer.h"
#include "render/scan.h"

enum { MOST_BYTES = 64 };

/* The sentence stands outside of any block, so only a plain word may be in it. */
static bool is_plain_word(struct tidings_span name) {
  if (name.len > MOST_BYTES) return false;
  for (size_t at = 0; at < name.len; at++) {
    char byte = name.ptr[at];
    if (!is_alphanumeric(byte) && byte != '.' && byte != '_' && byte != '-') return false;
  }
  return true;
}

static void write_kind(const struct notification *note, struct buffer *out) {
  if (!note->source.len || !is_plain_word(note->source) || !is_plain_word(note->name)) return;
  buffer_format(out, " (%.*s", SPAN_FORMAT(note->source));
  if (note->name.len) buffer_format(out, ".%.*s", SPAN_FORMAT(note->name));
  buffer_byte(out, ')');
}

int render_urgent_message(const struct notification *note, struct arena *arena,
                          struct tidings_span *ret_text) {
  bool critical = note->level == TIDINGS_LEVEL_CRITICAL;
  struct buffer text = BUFFER_EMPTY;
  buffer_text(&text, critical ? "Critical notification" : "Notification");
  write_kind(note, &text);
  buffer_text(&text, "; see the notifications in this message.");
  int code = text.failed || arena_copy(arena, buffer_view(&text), ret_text) ? -1 : 0;
  buffer_free(&text);
  return code;
}
