/* SPDX-License-Identifier: MIT
 *
 * rules/producers/files.c: files that somebody else has changed. A change that a call of the
 * assistant's own caused is kept for the record, and the policy withdraws it and what a watcher
 * says of it.
 */
#include "rules/producers/internal.h"

void produce_file_changed(const struct report *report, struct produced *produced,
                          struct buffer *words) {
  static const char *const changes[] = {"modified", "created", "deleted", "renamed"};
  const char *change = changes[report->change];
  set_kind(&produced->note, "file", "changed", TIDINGS_LEVEL_INFO);
  produced->note.caused_by = report->caused_by;
  if (report->path_count == 1) {
    buffer_byte(words, '`');
    buffer_span(words, report->paths[0]);
    buffer_format(words, "` was %s externally.", change);
    return;
  }
  buffer_format(words, "Multiple files %s: ", change);
  for (size_t i = 0; i < report->path_count; i++) {
    if (i) buffer_text(words, ", ");
    buffer_span(words, report->paths[i]);
  }
}
