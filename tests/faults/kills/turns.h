/* SPDX-License-Identifier: MIT
 *
 * kills/turns.h: sessions in which turns run: producers submit to them, the host takes the offers.
 */
#ifndef KILLS_TURNS_H
#define KILLS_TURNS_H

#include "kills/board.h"
#include "kit/turns.h"

/* Such a session, as the host sees it. */
struct lane {
  unsigned number; /* of the session on the board */
  bool runs;
  struct tokens offered; /* the host was asked for a turn with these */
};

/* The result of the host's next call: a carrier with these messages, to be settled; or nothing
 * yet. */
struct lane_step {
  uint64_t delivery;
  struct tokens carried;
  bool more;
};

/* Returns 0, or BUSY if nothing has changed. On any other error the process ends. */
int32_t lane_go_on(struct lane *lane, struct rig *rig, struct random *random,
                   struct lane_step *ret_step);
/* To be called after session.resumed, whose reply may have asked for a turn. */
int32_t lane_ask_again(struct lane *lane, struct rig *rig);
/* Rolls back a carrier of the lane. */
int32_t lane_roll_back(struct lane *lane, struct rig *rig, uint64_t delivery);

#endif
