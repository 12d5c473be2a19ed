/* SPDX-License-Identifier: MIT
 *
 * powercut/lanes.h: sessions in which turns run while the power may fail: messages are submitted,
 * steered and cancelled; offers are taken or declined; requests are sent and settled. After the
 * cut, lane_drain reads what the store has kept.
 */
#ifndef POWERCUT_LANES_H
#define POWERCUT_LANES_H

#include "kit/turns.h"

/* A session with turns, as its host sees it. */
struct lane {
  char session[8];
  unsigned number; /* of the session, in marks */
  bool runs;
  struct tokens offered; /* it was asked for a turn with these */
  struct tokens waiting; /* messages that were submitted and not offered yet */
};

/* Does one thing in the session; *ret_token_used: it has used the token. Returns a delivery that
 * has to be settled; 0: none. Marks what was promised. Ends the test if anything fails. */
uint64_t lane_step(struct lane *lane, struct rig *rig, struct random *random, uint64_t token,
                   bool *ret_token_used);
/* Takes the reply to the settle of one of the lane's deliveries. */
void lane_hears(struct lane *lane, const struct heard *heard);

/* After the cut: lets the host go on until nothing is queued, and adds all messages that start
 * turns to `ret_came`, in order. Returns false and says why if something is wrong. */
bool lane_drain(const char *session, struct rig *rig, struct tokens *ret_came, char *why,
                size_t why_size);

#endif
