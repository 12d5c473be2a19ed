/* SPDX-License-Identifier: MIT
 *
 * render/plain.c: the format `plain`: a statement of fact and a list, in the plan's order. Each
 * level but info is written in front, and then the source. A sentence of tidings' own names its
 * source, so it has none in front. The block does not claim to be the system and asks for nothing,
 * because models take such text from outside for an attack.
 */
#include <tidings/reply.h>

#include "render/escape.h"
#include "render/formats.h"
#include "render/scan.h"

/* Can the name of a source stand alone, or would it read as a level? */
static bool is_unmistakable(struct tidings_span source) {
  for (unsigned level = 0; level < LEVEL_COUNT; level++)
    if (span_is(source, level_name(level))) return false;
  for (size_t at = 0; at < source.len; at++) {
    char byte = source.ptr[at];
    bool is_lower = byte >= 'a' && byte <= 'z';
    if (!is_lower && !is_digit(byte) && byte != '-' && byte != '_' && byte != '.') return false;
  }
  return true;
}

bool render_plain_shows_source(const struct notification *note) {
  return note->made_by == MADE_BY_NOTIFICATION && note->source.len;
}

/* "[error ci] ", "[slack] ", "[error] ". */
static void write_mark(const struct line *line, struct buffer *out) {
  const struct notification *note = &line->item->note;
  bool named = render_plain_shows_source(note);
  bool leveled = line->level != TIDINGS_LEVEL_INFO || (named && !is_unmistakable(note->source));
  if (!named && !leveled) return;
  buffer_byte(out, '[');
  if (leveled) buffer_text(out, level_name(line->level));
  if (leveled && named) buffer_byte(out, ' ');
  if (named) escape_markdown_inline(note->source, out);
  buffer_text(out, "] ");
}

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
    write_mark(line, out);
    render_line_text(input, ESCAPE_CALL, line, out);
    buffer_byte(out, '\n');
  }
  render_pending_line(input->deferred, out);
  /* The carrier's text follows, and it may begin like an item. */
  if (input->place == TIDINGS_PLACE_PREPEND) render_markdown_fence(input, out);
  else if (!out->failed) out->len--; /* the last line feed */
}
