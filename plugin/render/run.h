/* SPDX-License-Identifier: MIT
 *
 * render/run.h: how a command ended, and the last lines of its output. The words are those of
 * docs/semantics.md.
 */
#ifndef RENDER_RUN_H
#define RENDER_RUN_H

#include "common/buffer.h"
#include "values/event.h"

/* The first line says what ended, how, after how long and where the log is; the last lines follow,
 * so that a cut at the end removes only output. `most` as in render_report. */
void render_run(enum event_type type, const struct report *report, size_t most, struct buffer *out);

/* Appends the last lines of `output` as text, each indented; nothing if it is blank. Appends at
 * most 20 lines and 2,000 bytes, and only as many of the last lines as keep `out` within `most`
 * bytes. If no line fits, writes all, for the caller to cut. */
void render_last_lines(struct tidings_span output, size_t most, struct buffer *out);

#endif
