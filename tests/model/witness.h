/* SPDX-License-Identifier: MIT
 *
 * tests/model/witness.h: somebody who sees events, answers and carriers, never the machine's
 * inside, and works out by docs/turns.md what the host is doing.
 */
#ifndef TESTS_MODEL_WITNESS_H
#define TESTS_MODEL_WITNESS_H

#include "play.h"

enum meant witness_reads(const struct world *world, const struct move *move);
/* What an event of a turn must do, by the table of docs/turns.md. */
enum effect { EFFECT_ANY, EFFECT_REFUSED, EFFECT_NONE, EFFECT_SOME };
enum effect witness_expects(const struct occurrence *occurrence);
/* After a call: what the witness knows now. */
void witness_sees(const struct occurrence *occurrence, struct witness *witness);

#endif
