/* SPDX-License-Identifier: MIT
 *
 * run/tail.h: the end of a command's output, for people and models: without escape sequences and
 * overwritten lines, which make sense on a terminal only.
 */
#ifndef TIDINGS_CLI_RUN_TAIL_H
#define TIDINGS_CLI_RUN_TAIL_H

#include <stdbool.h>
#include <stddef.h>

enum { TAIL_BYTES = 8192 };

/* Zero: empty. */
struct tail {
  char bytes[TAIL_BYTES];
  size_t len;
  bool cut; /* there was more before */
};

void tail_add(struct tail *tail, const char *bytes, size_t len);

/* Returns the last `lines` lines, at most `most` bytes of them, cut as by plain_last_lines; or the
 * end of the last line, if that line alone is longer. Secrets are masked (common/mask.h) unless
 * `unmasked`. Empty: there is no visible text. Valid UTF-8, no line break at the end. Free it;
 * NULL: out of memory. */
char *tail_text(const struct tail *tail, size_t lines, size_t most, bool unmasked);

#endif
