/* SPDX-License-Identifier: MIT
 *
 * powercut/lanes.h: sessions with turns while the power may fail: messages are submitted, steered
 * and cancelled; offers are taken or declined; requests are sent and settled. After the cut,
 * lane_drain reads what the store has kept.
 */
#ifndef POWERCUT_LANES_H
#define POWERCUT_LANES_H

#include "kit/turns.h"

/* A session with turns, as its host sees it. */
struct lane {
  char session[8];
  unsigned number; /* the session's number in marks */
  bool runs;
  struct tokens offered; /* the host was asked for a turn with these */
  struct tokens waiting; /* submitted messages that were not offered yet */
};

/* Does one thing in the session, and marks what was promised. Returns a delivery that must be
 * settled; 0: none. *ret_token_used: it has used `token`. Ends the test if anything fails. */
uint64_t lane_step(struct lane *lane, struct rig *rig, struct random *random, uint64_t token,
                   bool *ret_token_used);
/* Takes the reply to the settling of a delivery of the lane. */
void lane_hears(struct lane *lane, const struct heard *heard);

/* After the cut: runs turns until nothing is queued, and adds their messages to `ret_came`, in
 * order. Returns false, with the reason in `why`, if something is wrong. */
bool lane_drain(const char *session, struct rig *rig, struct tokens *ret_came, char *why,
                size_t why_size);

#endif
