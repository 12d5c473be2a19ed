/* SPDX-License-Identifier: MIT
 *
 * render/report.h: writes a host's report as the text of a notification, in the words of
 * docs/semantics.md.
 */
#ifndef RENDER_REPORT_H
#define RENDER_REPORT_H

#include "common/buffer.h"
#include "values/event.h"

/* Writes as many lines of a command's output as fit into `most` bytes; all other text is written
 * even if it is longer. A buffer without memory is `failed`. */
void render_report(enum event_type type, const struct report *report, size_t most,
                   struct buffer *out);

/* Writes "`a` was modified externally.", or "… while Bash ran." if there is a tool. `edited`: the
 * assistant had edited the file before. `change`: enum file_change. */
void render_file_change(struct tidings_span path, unsigned change, struct tidings_span tool,
                        bool edited, struct buffer *out);
/* Writes a file of a list. `path` may lack its first folders. */
void render_listed_file(struct tidings_span path, unsigned change, bool edited, struct buffer *out);
/* Writes "Multiple files modified: ", which begins a list. `change` NULL: not all files changed in
 * the same way. */
void render_files_title(const char *change, struct tidings_span tool, struct buffer *out);
const char *render_file_change_name(unsigned change); /* "modified" */

#endif
