/* SPDX-License-Identifier: MIT
 *
 * tests/unit/render/attacks.h: known ways to get out of a block, and texts that are made of them.
 */
#ifndef TESTS_UNIT_ATTACKS_H
#define TESTS_UNIT_ATTACKS_H

#include "kit.h"

enum { ATTACK_COUNT = 74 };
extern const char *const attacks[ATTACK_COUNT];

/* Attacks and pieces of structure, mixed with any bytes. In the arena. */
struct tidings_span hostile_text(struct random *random, struct arena *arena);

#endif
