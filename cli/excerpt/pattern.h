/* SPDX-License-Identifier: MIT
 *
 * excerpt/pattern.h: the patterns of lines of failures, for each tool.
 */
#ifndef CLI_EXCERPT_PATTERN_H
#define CLI_EXCERPT_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

enum role {
  ROLE_NONE,
  ROLE_NOISE,       /* looks like a failure, but says nothing about it */
  ROLE_WEAK,        /* mentions a failure; shown if no line states one */
  ROLE_TITLE,       /* names the test or the part that failed */
  ROLE_STATEMENT,   /* states the failure */
  ROLE_PLACE,       /* the file and the line of the failure that a line nearby states */
  ROLE_DETAIL,      /* belongs to a failure that a line above states */
  ROLE_EXPLANATION, /* a statement; a detail if the line above it is one, too (pytest) */
  ROLE_FILE,        /* the file of the statements below it */
  ROLE_TRACE,       /* the lines below are frames, and then comes the statement (Python) */
};

struct pattern {
  const char *text; /* see pattern_matches */
  enum role role;
  uint8_t next;    /* how many of the following lines belong to it, not counting blank ones */
  bool any_column; /* false: the line is not indented */
};

extern const struct pattern patterns[]; /* the first match counts; the last one has no text */

/* Does the text begin like the pattern? `#` matches a number, `~` any characters except blanks, `*`
 * any characters, and a final `$` the end of the text. */
bool pattern_matches(const char *pattern, struct tidings_span text);

/* Finds the pattern of a line, given without its indentation. NULL: none matches. */
const struct pattern *pattern_find(struct tidings_span text, bool indented);

/* Does the text mention a failure in any words? */
bool pattern_mentions_failure(struct tidings_span text);

#endif
