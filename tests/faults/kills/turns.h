/* SPDX-License-Identifier: MIT
 *
 * kills/turns.h: sessions with turns: producers submit messages, the host takes the offers.
 */
#ifndef KILLS_TURNS_H
#define KILLS_TURNS_H

#include "kills/board.h"
#include "kit/turns.h"

/* Such a session, as the host sees it. */
struct lane {
  unsigned number; /* the session's number on the board */
  bool runs;
  struct tokens offered; /* the host was asked for a turn with these */
};

/* The result of the host's next call: a delivery with these messages, which must be settled; or
 * nothing yet. */
struct lane_step {
  uint64_t delivery;
  struct tokens carried;
  bool more;
};

/* Makes the next call. Returns 0, or BUSY if nothing has changed. Any other error ends the
 * process. */
int32_t lane_go_on(struct lane *lane, struct rig *rig, struct random *random,
                   struct lane_step *ret_step);
/* Call it after session.resumed, whose reply may have asked for a turn. */
int32_t lane_ask_again(struct lane *lane, struct rig *rig);
/* Rolls back a delivery of the lane. */
int32_t lane_roll_back(struct lane *lane, struct rig *rig, uint64_t delivery);

#endif
