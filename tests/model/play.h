/* SPDX-License-Identifier: MIT
 *
 * tests/model/play.h: makes a move: calls the machine like plugin/session, with the state that the
 * store would have.
 */
#ifndef TESTS_MODEL_PLAY_H
#define TESTS_MODEL_PLAY_H

#include "moves.h"

/* A call of the machine, for the laws. In both worlds a message's index is its number - 1. */
struct occurrence {
  const struct world *before, *after;
  int code;
  uint8_t unflagged; /* mask: messages whose stored fields differ without `changed` */
  bool moved_on;     /* a byte that matters has changed */
};

/* Makes the move. Returns NULL, or the law that it broke. */
const char *play(struct world *world, const struct setup *setup, const struct move *move);

#endif
