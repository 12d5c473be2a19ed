/* SPDX-License-Identifier: MIT
 *
 * tests/model/endings.h: checks that nothing is lost: from every state, a host that continues gets
 * everything that waits.
 */
#ifndef TESTS_MODEL_ENDINGS_H
#define TESTS_MODEL_ENDINGS_H

#include "play.h"

/* Lets a host continue from this state. Returns NULL, or what it did not get. *ret_steps: how many
 * moves it made. */
const char *ending_reached(const struct world *world, const struct setup *setup, size_t *ret_steps);

#endif
