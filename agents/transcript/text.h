/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/text.h: looks for words in the text of a transcript, whose lines are records.
 * Each function knows where its text ends, and reads nothing after that.
 */
#ifndef AGENTS_TRANSCRIPT_TEXT_H
#define AGENTS_TRANSCRIPT_TEXT_H

#include "common/span.h"

/* The first words from `from` on, the last ones; NULL: there are none, or `words` is empty. The
 * last ones cost what is after them, not what is before. */
const char *hook_text_find(const char *from, const char *end, struct tidings_span words);
const char *hook_text_find_last(const char *from, const char *end, struct tidings_span words);

/* The beginning of the line in which `at` is; `text` begins one. Its end: the newline, or `end`. */
const char *hook_text_line_start(const char *text, const char *at);
const char *hook_text_line_end(const char *at, const char *end);

/* The first line that begins so, the last one; NULL: there is none, or `words` is empty. `text`
 * begins a line, `from` need not. */
const char *hook_text_find_line(const char *text, const char *from, const char *end,
                                struct tidings_span words);
const char *hook_text_find_last_line(const char *text, const char *end, struct tidings_span words);

/* `before`, and what is after it up to the quote: at `at`, or an empty span. */
struct tidings_span hook_text_quoted(const char *at, const char *end, const char *before);

#endif
