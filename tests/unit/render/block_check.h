/* SPDX-License-Identifier: MIT
 *
 * tests/unit/render/block_check.h: whether what was rendered is what its format allows, told by
 * other means than the renderer's: whatever bytes the items are made of, the block is one block.
 * Used by property tests and by the fuzzer, so it knows no test framework.
 */
#ifndef TESTS_UNIT_BLOCK_CHECK_H
#define TESTS_UNIT_BLOCK_CHECK_H

#include "render/render.h"

/* NULL: nothing is wrong. Else what is. */
const char *block_problem(const struct render_input *input, const struct rendered *messages,
                          size_t count);

#endif
