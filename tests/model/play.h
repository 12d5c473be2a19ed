/* SPDX-License-Identifier: MIT
 *
 * tests/model/play.h: a move made: the machine called as plugin/delivery calls it, with what the
 * store would hold around it.
 */
#ifndef TESTS_MODEL_PLAY_H
#define TESTS_MODEL_PLAY_H

#include "moves.h"

/* What names mean, seen from outside: by what the witness knows of the turn, not by the machine's
 * words for it. */
enum meant { MEANT_BY_NONE, MEANT_TURN, MEANT_PART, MEANT_ENDED, MEANT_OTHER };

/* One call of the machine, for the laws. Messages are by number - 1 in both worlds. */
struct occurrence {
  const struct setup *setup;
  const struct move *move;
  const struct turns_input *input;
  const struct world *before, *after; /* the witness of `after` has not seen it yet */
  enum meant meant;
  bool looked; /* turns_look; else turns_step */
  int code;
  struct turns_result result;
  uint8_t unflagged; /* mask: messages whose stored fields differ without `changed` */
  bool moved_on;     /* any byte that counts differs */
};

/* Makes the move. Returns NULL, or the law that was broken on the way. */
const char *play(struct world *world, const struct setup *setup, const struct move *move);

#endif
