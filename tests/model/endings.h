/* SPDX-License-Identifier: MIT
 *
 * tests/model/endings.h: that nothing is lost: from every state a host that goes on gets everything
 * that waits.
 */
#ifndef TESTS_MODEL_ENDINGS_H
#define TESTS_MODEL_ENDINGS_H

#include "play.h"

/* A patient host goes on from here. NULL, or what did not come to its end; *ret_steps: how many
 * moves it took. */
const char *ending_reached(const struct world *world, const struct setup *setup, size_t *ret_steps);

#endif
