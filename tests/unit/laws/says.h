/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/says.h: decides whether a line that a model reads shows a given message, and
 * which age the line states.
 */
#ifndef TESTS_UNIT_LAWS_SAYS_H
#define TESTS_UNIT_LAWS_SAYS_H

#include "reading/reading.h"

/* Does the line show this age, such as "12 min ago"; empty: none? If the age is "(12 min ago)" at
 * the end of the text's first line, takes it off. Returns 0, or -1: no memory. */
int says_take_age(struct reading_line *line, struct tidings_span age, struct arena *arena,
                  bool *ret_says);

/* Is a line's text this message? `times`: how many notifications share the line. */
enum says {
  SAYS_OTHER,
  SAYS_ALL,
  SAYS_CUT /* the first *ret_shown_len bytes, and how many are missing */
};
int says_message(struct tidings_span text, struct tidings_span message, size_t times,
                 enum says *ret_says, size_t *ret_shown_len);

#endif
