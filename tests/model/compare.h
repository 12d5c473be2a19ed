/* SPDX-License-Identifier: MIT
 *
 * tests/model/compare.h: compares the machine's move with the oracle's.
 */
#ifndef TESTS_MODEL_COMPARE_H
#define TESTS_MODEL_COMPARE_H

#include "moves.h"
#include "view.h"

/* Returns NULL, or the difference. `before` and `after` are as play() leaves them. */
const char *compare_with_oracle(const struct world *before, const struct world *after,
                                const struct setup *setup, const struct move *move,
                                const struct view_answer *answer);

#endif
