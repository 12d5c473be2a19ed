/* SPDX-License-Identifier: MIT
 *
 * sim/play.h: plays a schedule: applies each step to the plugin and to the model, and compares
 * their whole states.
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
  PLAYED_BROKEN,    /* a process ended unexpectedly or could not be started; the text says which */
};

/* Plays in session number `session`. Only after PLAYED_SAME can the processes be used again.
 * Describes each step in `story` (or NULL), and differences in `out`. Adds to `tally`. */
enum played schedule_play(struct processes *processes, const struct schedule *schedule,
                          uint64_t session, struct tally *tally, FILE *story, FILE *out);

#endif
