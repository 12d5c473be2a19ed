/* SPDX-License-Identifier: MIT
 *
 * render/coalesced.c: see coalesced.h.
 */
#include "render/coalesced.h"

#include "render/missing.h"
#include "render/report.h"

static bool is_one_change(const struct file_list *list) {
  return list->changes[0] == list->changes[list->count - 1];
}

static void write_rest(const struct file_list *list, size_t listed, struct buffer *out) {
  struct tidings_span folder = list->folder[listed];
  if (listed == list->count) return;
  buffer_format(out, ", and %zu more", list->count - listed);
  if (list->folders[listed] > 1) buffer_format(out, " in %zu folders", list->folders[listed]);
  else if (folder.len) buffer_text(out, " in ");
  if (list->folders[listed] == 1) buffer_span(out, folder);
}

void render_files(const struct file_list *list, size_t listed, struct buffer *out) {
  bool one_change = is_one_change(list);
  if (list->count == 1) {
    render_file_change(list->paths[0], list->changes[0], list->tool, out);
    return;
  }
  render_files_title(one_change ? render_file_change_name(list->changes[0]) : NULL, list->tool,
                     out);
  for (size_t f = 0; f < listed; f++) {
    bool next_change = !one_change && (!f || list->changes[f] != list->changes[f - 1]);
    if (f) buffer_text(out, next_change ? "; " : ", ");
    if (next_change) buffer_format(out, "%s ", render_file_change_name(list->changes[f]));
    buffer_span(out, list->paths[f]);
  }
  write_rest(list, listed, out);
}

static struct tidings_span without_trailing_blanks(struct tidings_span text) {
  while (text.len && strchr(" \t\r\n", text.ptr[text.len - 1])) text.len--;
  return text;
}

void render_repeated(struct tidings_span message, size_t kept, size_t times, struct buffer *out) {
  if (kept < message.len) render_cut_text(message, kept, out);
  else buffer_span(out, times > 1 ? without_trailing_blanks(message) : message);
  if (times > 1) buffer_format(out, " (%zu times)", times);
}
