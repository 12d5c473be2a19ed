/* SPDX-License-Identifier: MIT
 *
 * render/coalesced.c: see coalesced.h.
 */
#include "render/coalesced.h"

static bool fits(size_t limit, const struct buffer *out, struct tidings_span text) {
  return out->len + text.len <= limit;
}

static void write_paths(const struct coalesced *line, size_t limit, struct buffer *out) {
  size_t written = 0;
  buffer_text(out, "Multiple files modified: ");
  for (; written < line->path_count && (!written || fits(limit, out, line->paths[written]));
       written++) {
    if (written) buffer_text(out, ", ");
    buffer_span(out, line->paths[written]);
  }
  if (written < line->path_count)
    buffer_format(out, "… (%zu more files)", line->path_count - written);
}

static struct tidings_span without_trailing_blanks(struct tidings_span text) {
  while (text.len && strchr(" \t\r\n", text.ptr[text.len - 1])) text.len--;
  return text;
}

static void write_counted(struct tidings_span message, size_t times, struct buffer *out) {
  buffer_span(out, without_trailing_blanks(message));
  if (times > 1) buffer_format(out, " (%zu times)", times);
}

static bool is_file(const struct coalesced *line, size_t index) {
  return line->path_count && line->items[index]->facts.path_count;
}

/* How many different texts are left out if none from index `from` on is written. */
static size_t count_left_out(const struct coalesced *line, size_t from) {
  size_t count = 0;
  for (size_t i = from; i < line->count; i++) count += line->leaders[i] == i && !is_file(line, i);
  return count;
}

/* The files are one text, at the place of the first of them. */
void render_coalesced(const struct coalesced *line, size_t limit, struct buffer *out) {
  bool files_written = false;
  for (size_t i = 0; i < line->count; i++) {
    bool file = is_file(line, i);
    if (file ? files_written : line->leaders[i] != i) continue;
    if (out->len && !fits(limit, out, file ? line->paths[0] : line->items[i]->note.message)) {
      if (file) buffer_format(out, "; … (%zu files)", line->path_count);
      else buffer_format(out, "; … (%zu more)", count_left_out(line, i));
      return;
    }
    if (out->len) buffer_text(out, "; ");
    if (file) write_paths(line, limit, out);
    else write_counted(line->items[i]->note.message, line->times[i], out);
    files_written = files_written || file;
  }
}
