/* SPDX-License-Identifier: MIT
 *
 * rules/policy/words.c: the message of a line, whole or shortened. render/ has the words.
 */
#include "rules/policy/steps.h"

static int keep_text(const struct work *work, struct buffer *text, struct tidings_span *ret) {
  int code = text->failed || arena_copy(work->arena, buffer_view(text), ret) ? -1 : 0;
  buffer_free(text);
  return code;
}

int policy_write_files(const struct work *work, struct line *line, size_t listed) {
  struct buffer text = BUFFER_EMPTY;
  line->listed = listed;
  render_files(line->files, listed, &text);
  return keep_text(work, &text, &line->message);
}

int policy_write_cut(const struct work *work, const struct line *line, size_t kept,
                     struct tidings_span *ret_message) {
  struct buffer text = BUFFER_EMPTY;
  render_repeated(line->item->note.message, kept, line->count, &text);
  return keep_text(work, &text, ret_message);
}

/* Lists as many files as a message may have room for. */
static int write_list(const struct work *work, struct line *line) {
  if (policy_list_files(work, line)) return -1;
  for (size_t listed = line->listed;; listed--) {
    if (policy_write_files(work, line, listed)) return -1;
    if (listed <= 1 || line->message.len <= work->settings->message_bytes) return 0;
  }
}

static bool all_say_the_same(const struct work *work, const struct line *line) {
  for (size_t i = first_of(work, line); i != NO_ITEM; i = work->next[i]) {
    if (!span_equal(work->items[i].note.message, line->item->note.message)) return false;
  }
  return true;
}

/* Has anything that the line's items name been undone, or left out? */
static bool says_less(const struct work *work, const struct line *line) {
  const struct trace *trace = &work->trace;
  for (size_t i = first_of(work, line); i != NO_ITEM; i = work->next[i]) {
    if (work->items[i].shortened) return true;
    for (size_t p = 0; p < work->items[i].facts.path_count; p++) {
      if (trace->mentions[trace->first[i] + p].opposite != NO_ITEM) return true;
    }
  }
  return false;
}

int policy_write_line(const struct work *work, struct line *line) {
  if (is_file_change(line->item) && (!all_say_the_same(work, line) || says_less(work, line) ||
                                     line->item->facts.path_count > FILES_LISTED))
    return write_list(work, line);
  if (line->count > 1 && policy_write_cut(work, line, SIZE_MAX, &line->message)) return -1;
  /* If it has to be shortened, it names fewer files. */
  return names_several_files(line->item) ? policy_list_files(work, line) : 0;
}
