/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/says.h: whether a line that a model reads says a message, and how old it is.
 */
#ifndef TESTS_UNIT_LAWS_SAYS_H
#define TESTS_UNIT_LAWS_SAYS_H

#include "reading/reading.h"

/* Takes "(12 min ago)" off a line's first line of text. False: it does not say so, or more: texts
 * may end so by themselves. `age`: "12 min ago", or empty. Returns 0, or -1: no memory. */
int says_take_age(struct reading_line *line, struct tidings_span age, struct arena *arena,
                  bool *ret_says);

/* Does a line's text say this message? `times`: how many notifications share the line. */
enum says {
  SAYS_OTHER,
  SAYS_ALL,
  SAYS_CUT /* the first *ret_shown_len bytes, and how many are missing */
};
int says_message(struct tidings_span text, struct tidings_span message, size_t times,
                 enum says *ret_says, size_t *ret_shown_len);

#endif
