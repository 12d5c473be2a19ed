/* SPDX-License-Identifier: MIT
 *
 * excerpt/excerpt.h: finds the lines of a command's output that state why it failed, and its last
 * lines, however long the output is. It copies the lines unchanged, except that secrets are masked
 * (common/mask.h).
 */
#ifndef CLI_EXCERPT_EXCERPT_H
#define CLI_EXCERPT_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/excerpt/failure.h"
#include "cli/excerpt/lines.h"

enum { EXCERPT_LINES = 6, LAST_LINE_BYTES = 500, ERROR_BYTES = 1200 };

struct last_line {
  uint64_t number; /* its number in the output, from 1 */
  size_t len;
  bool cut; /* the line is longer */
  bool progress;
  char text[LAST_LINE_BYTES];
};

/* Zero it to begin, except `unmasked`. */
struct excerpt {
  bool unmasked; /* secrets are not masked */
  struct lines lines;
  struct failure failure;
  struct last_line last[EXCERPT_LINES]; /* a ring */
  uint64_t last_count;                  /* how many lines were put into it */
  bool in_key;                          /* inside of a private key, which is left out */
};

void excerpt_add(struct excerpt *excerpt, const char *bytes, size_t len);
/* Call once, after the last byte. */
void excerpt_end(struct excerpt *excerpt);

/* After excerpt_end: returns the lines that state why the command failed, each as "NUMBER: TEXT",
 * except those among the last `count`. Lines after `log_lines` are not in the log and get no
 * number. Empty: there is no such line. Free it; NULL: out of memory. */
char *excerpt_errors(const struct excerpt *excerpt, size_t count, uint64_t log_lines);

/* After excerpt_end: returns the last `count` lines, at most EXCERPT_LINES. Repeated lines, blank
 * lines, and all steps of a progress bar except the last one do not count. Empty: there is none.
 * *ret_long: the last line is longer than its kept part. Free it; NULL: out of memory. */
char *excerpt_last(const struct excerpt *excerpt, size_t count, bool *ret_long);

#endif
