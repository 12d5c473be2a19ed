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

/* Each takes an answer of the query `timeline` and appends to `out`; a buffer without memory stays
 * failed. */

/* `from`, in milliseconds, is no member of an answer: where the page's first view begins.
 * The data of the page: compact JSON in which no `<` stands, so that it can be put between the tags
 * of an element. */
void timeline_data(const json_t *answer, struct buffer *out);
/* Trace Event JSON, which Perfetto opens. */
void timeline_trace(const json_t *answer, struct buffer *out);

/* "2026-07-25T10:14:25.713Z", as the plugin writes times: milliseconds since 1970; 0 if it is none.
 * ISO dates of years beyond 9999 count as none. */
int64_t timeline_ms(const char *time);

/* The page before its data and after it: made from page/ when this is built. */
extern const char timeline_page_before[], timeline_page_after[];

#endif
