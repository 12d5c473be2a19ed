/* SPDX-License-Identifier: MIT
 *
 * tests/unit/render/block_check.h: checks, by other means than the renderer's, that a rendered text
 * is what its format allows: whatever bytes the items have, the block is one block. Property tests
 * and the fuzzer use it, so it needs no test framework.
 */
#ifndef TESTS_UNIT_BLOCK_CHECK_H
#define TESTS_UNIT_BLOCK_CHECK_H

#include "render/render.h"

/* Returns NULL, or what is wrong. */
const char *block_problem(const struct render_input *input, const struct rendered *messages,
                          size_t count);

#endif
