/* SPDX-License-Identifier: MIT
 */
#include "render/coalesced.h"

#include "render/missing.h"
#include "render/report.h"
#include "values/event.h"

enum { CHANGES = FILE_RENAMED + 1 };

size_t render_files_most(size_t count) { return count > FILES_LISTED ? FILES_SAMPLED : count; }

static size_t count_change(const struct file_list *list, size_t end, unsigned change) {
  size_t count = 0;
  for (size_t f = 0; f < end; f++) count += list->changes[f] == change;
  return count;
}

/* -- all files by name ------------------------------------------------------------------------- */

static void write_all(const struct file_list *list, struct buffer *out) {
  bool one_change = count_change(list, list->count, list->changes[0]) == list->count, any = false;
  render_files_title(one_change ? render_file_change_name(list->changes[0]) : NULL, list->tool,
                     out);
  for (unsigned change = 0; change < CHANGES; change++) {
    bool begun = false;
    for (size_t f = 0; f < list->count; f++) {
      if (list->changes[f] != change) continue;
      if (any) buffer_text(out, begun ? ", " : "; ");
      if (!begun && !one_change) buffer_format(out, "%s ", render_file_change_name(change));
      render_listed_file(list->paths[f], change, list->edited[f], out);
      begun = any = true;
    }
  }
}

/* -- some by name, and how many there are ------------------------------------------------------ */

/* The length of the folder that all paths share, with its slash. A "/" alone is no folder worth
 * naming. */
static size_t common_folder(const struct file_list *list) {
  struct tidings_span first = list->paths[0];
  size_t common = first.len;
  for (size_t f = 1; f < list->count; f++) {
    struct tidings_span path = list->paths[f];
    size_t len = 0;
    while (len < common && len < path.len && path.ptr[len] == first.ptr[len]) len++;
    common = len;
  }
  while (common && first.ptr[common - 1] != '/') common--;
  return common > 1 ? common : 0;
}

static void write_names(const struct file_list *list, size_t listed, unsigned change, size_t folder,
                        struct buffer *out) {
  size_t named = 0;
  for (size_t f = 0; f < listed; f++) {
    struct tidings_span path = list->paths[f];
    if (list->changes[f] != change) continue;
    if (named++) buffer_text(out, ", ");
    render_listed_file(span_of(path.ptr + folder, path.len - folder), change, list->edited[f], out);
  }
  if (named < count_change(list, list->count, change)) buffer_text(out, ", …");
}

/* Deleted files come first. */
static void write_changes(const struct file_list *list, size_t listed, size_t folder,
                          struct buffer *out) {
  static const unsigned order[CHANGES] = {FILE_DELETED, FILE_CREATED, FILE_RENAMED, FILE_MODIFIED};
  const char *between = "";
  for (size_t c = 0; c < CHANGES; c++) {
    size_t count = count_change(list, list->count, order[c]);
    if (!count) continue;
    buffer_format(out, "%s%zu %s", between, count, render_file_change_name(order[c]));
    between = ", ";
    if (!count_change(list, listed, order[c])) continue;
    buffer_text(out, " (");
    write_names(list, listed, order[c], folder, out);
    buffer_byte(out, ')');
  }
}

static void write_counted(const struct file_list *list, size_t listed, struct buffer *out) {
  bool one_change = count_change(list, list->count, list->changes[0]) == list->count;
  size_t folder = common_folder(list);
  buffer_format(out, "%zu files %s", list->count,
                one_change ? render_file_change_name(list->changes[0]) : "changed");
  if (folder) buffer_text(out, " in ");
  buffer_append(out, list->paths[0].ptr, folder);
  if (list->tool.len) buffer_format(out, " while %.*s ran", SPAN_FORMAT(list->tool));
  buffer_text(out, ": ");
  if (one_change) write_names(list, listed, list->changes[0], folder, out);
  else write_changes(list, listed, folder, out);
}

void render_files(const struct file_list *list, size_t listed, struct buffer *out) {
  if (list->count == 1)
    render_file_change(list->paths[0], list->changes[0], list->tool, list->edited[0], out);
  else if (listed == list->count) write_all(list, out);
  else write_counted(list, listed, out);
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
