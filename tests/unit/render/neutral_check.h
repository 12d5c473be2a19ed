/* SPDX-License-Identifier: MIT
 *
 * tests/unit/render/neutral_check.h: checks, by other means than render/, that a text outside of
 * items was made harmless, and was not changed more than necessary. It searches a copy, in lower
 * case and without invisible characters, for plain strings. Property tests and the fuzzer use it,
 * so it needs no test framework.
 */
#ifndef TESTS_UNIT_NEUTRAL_CHECK_H
#define TESTS_UNIT_NEUTRAL_CHECK_H

#include "render/render.h"

/* Each returns NULL: nothing is wrong. Else what is. */
const char *lookalike_problem(
    struct tidings_span text,
    bool any_dashes); /* any_dashes: no line of dashes, whatever follows */
/* Does `after` differ from `before` only by added backslashes and by &lt; in place of <? */
const char *change_problem(struct tidings_span before, struct tidings_span after);
/* The outcome of a steered message. */
const char *steered_problem(const struct render_input *input, const struct rendered *message);

#endif
