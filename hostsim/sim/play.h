/* SPDX-License-Identifier: MIT
 *
 * sim/play.h: plays a schedule: each step is done to the plugin and to the model, then their whole
 * states are compared.
 */
#ifndef HOSTSIM_SIM_PLAY_H
#define HOSTSIM_SIM_PLAY_H

#include "sim/processes.h"
#include "sim/schedule.h"

struct tally { /* what was played */
  uint64_t schedules, steps, commits_died, kinds[ACT_KINDS];
};

enum played {
  PLAYED_SAME,      /* no difference */
  PLAYED_DIFFERENT, /* the text says which */
  PLAYED_BROKEN, /* a process ended that should not have, or could not be had; the text says which
                  */
};

/* Plays in a session of this number. The processes are well afterwards if it answers PLAYED_SAME;
 * otherwise start them anew. With `story` each step is written to it in words; what differs goes to
 * `out`. `tally` is added to. */
enum played schedule_play(struct processes *processes, const struct schedule *schedule,
                          uint64_t session, struct tally *tally, FILE *story, FILE *out);

#endif
