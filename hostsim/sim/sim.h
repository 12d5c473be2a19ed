/* SPDX-License-Identifier: MIT
 *
 * sim/sim.h: the options of `hostsim sim`, and its two processes: one plays, and may die with the
 * plugin; the other watches it.
 */
#ifndef HOSTSIM_SIM_SIM_H
#define HOSTSIM_SIM_SIM_H

#include "command/cli.h"

#include <stdbool.h>
#include <stdint.h>

struct sim_options {
  const char *plugin; /* NULL: the default */
  const char *schedule_file, *save_file;
  uint64_t seed, steps, first, schedules; /* schedules: 0: as many as the steps need */
  uint64_t failures;                      /* stop after this many */
  uint64_t timeout_ms;
  bool separate; /* the host always runs in its own process */
  bool shrink;   /* also shrinks a schedule from a file */
  bool story;    /* prints every step in words */
  bool verbose;
};

/* The progress of the playing process, in a page that both map. `ended`: it ended by itself, so its
 * exit code is not the plugin's. */
struct sim_progress {
  volatile uint64_t schedule, trials, ended;
};

/* Plays the schedules. `base` is a folder for stores. Returns the exit code: 0: no difference; 1:
 * some; 2: it could not be done. */
int sim_play(const struct sim_options *options, const char *base, struct sim_progress *progress);

extern const struct cli_verb verb_sim;
extern const struct cli_verb verb_internal_sim;

#endif
