/* SPDX-License-Identifier: MIT
 *
 * render/report.h: the sentence for a report from which a producer makes a notification. The words
 * are those of docs/semantics.md.
 */
#ifndef RENDER_REPORT_H
#define RENDER_REPORT_H

#include "common/buffer.h"
#include "values/event.h"

/* Writes as many lines of a command's output as fit into `most` bytes; all other text is written
 * even if it is longer. A buffer without memory is `failed`. */
void render_report(enum event_type type, const struct report *report, size_t most,
                   struct buffer *out);

/* "`a` was modified externally.", or "while Bash ran." with a `tool`; `edited`: since an edit of
 * the assistant's. `change`: enum file_change. */
void render_file_change(struct tidings_span path, unsigned change, struct tidings_span tool,
                        bool edited, struct buffer *out);
/* A text of a list. `path` may be the end of one. */
void render_listed_file(struct tidings_span path, unsigned change, bool edited, struct buffer *out);
/* The words before a list of files: "Multiple files modified: "; `change` NULL: they differ. */
void render_files_title(const char *change, struct tidings_span tool, struct buffer *out);
const char *render_file_change_name(unsigned change); /* "modified" */

#endif
