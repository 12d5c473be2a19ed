/* SPDX-License-Identifier: MIT
 *
 * tests/model/compare.h: the machine's move beside the oracle's.
 */
#ifndef TESTS_MODEL_COMPARE_H
#define TESTS_MODEL_COMPARE_H

#include "moves.h"
#include "view.h"

/* NULL, or in what the two differ. Both worlds as play() leaves them. */
const char *compare_with_oracle(const struct world *before, const struct world *after,
                                const struct setup *setup, const struct move *move,
                                const struct view_answer *answer);

#endif
