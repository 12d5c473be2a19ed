/* SPDX-License-Identifier: MIT
 *
 * tests/model/laws.h: what holds in every state and of every step.
 */
#ifndef TESTS_MODEL_LAWS_H
#define TESTS_MODEL_LAWS_H

#include "play.h"

/* NULL, or the law that is broken. */
const char *laws_of_step(const struct occurrence *occurrence);
const char *laws_of_state(const struct world *world, const struct setup *setup);

#endif
