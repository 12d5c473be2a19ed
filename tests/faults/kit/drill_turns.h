/* SPDX-License-Identifier: MIT
 *
 * kit/drill_turns.h: the drill's operations on messages and turns. A refused call must change
 * nothing, and an acknowledged message must start a turn exactly once.
 */
#ifndef KIT_DRILL_TURNS_H
#define KIT_DRILL_TURNS_H

#include "kit/drill.h"

extern const struct drill_operation drill_turns[];
extern const size_t drill_turns_count;

#endif
