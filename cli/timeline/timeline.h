/* SPDX-License-Identifier: MIT
 *
 * timeline/timeline.h: `tidings timeline`: a session's past as a page, or as a trace.
 */
#ifndef TIDINGS_CLI_TIMELINE_TIMELINE_H
#define TIDINGS_CLI_TIMELINE_TIMELINE_H

#include <jansson.h>

#include "command/cli.h"
#include "common/buffer.h"

extern const struct cli_verb verb_timeline;

/* These functions take an answer of the query `timeline` and append to `out`, which fails if memory
 * runs out. */

/* Writes the page's data: compact JSON without any `<`, so that it can stand inside an element. The
 * answer's `from` is where the page's first view begins, in milliseconds. */
void timeline_data(const json_t *answer, struct buffer *out);
/* Writes Trace Event JSON, which Perfetto opens. */
void timeline_trace(const json_t *answer, struct buffer *out);

/* Converts a time as the plugin writes it ("2026-07-25T10:14:25.713Z") to milliseconds since 1970;
 * 0: it is no time, or its year is beyond 9999. */
int64_t timeline_ms(const char *time);

/* The page before its data and after it; the build makes both from page/. */
extern const char timeline_page_before[], timeline_page_after[];

#endif
