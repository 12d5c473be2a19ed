/* SPDX-License-Identifier: MIT
 *
 * tests/unit/render/neutral_check.h: whether text that is not an item's was made harmless, and no
 * more than that, told by other means than render/'s: a copy in lower case, without what nobody
 * sees, is searched for plain strings. Used by property tests and by the fuzzer, so it knows no
 * test framework.
 */
#ifndef TESTS_UNIT_NEUTRAL_CHECK_H
#define TESTS_UNIT_NEUTRAL_CHECK_H

#include "render/render.h"

/* Each returns NULL: nothing is wrong. Else what is. */
const char *lookalike_problem(
    struct tidings_span text,
    bool any_dashes); /* any_dashes: no line of dashes, whatever follows */
/* Is `after` all of `before`, with nothing but backslashes put in and < written as &lt;? */
const char *change_problem(struct tidings_span before, struct tidings_span after);
/* The outcome of a steered message. */
const char *steered_problem(const struct render_input *input, const struct rendered *message);

#endif
