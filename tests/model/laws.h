/* SPDX-License-Identifier: MIT
 *
 * tests/model/laws.h: the laws that hold in every state and for every step.
 */
#ifndef TESTS_MODEL_LAWS_H
#define TESTS_MODEL_LAWS_H

#include "play.h"

/* Returns NULL, or the law that the step has broken. */
const char *laws_of_step(const struct occurrence *occurrence);
const char *laws_of_state(const struct world *world, const struct setup *setup);

#endif
