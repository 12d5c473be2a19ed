/* SPDX-License-Identifier: MIT
 *
 * sim/shrink.h: finds the fewest steps that still show a difference.
 */
#ifndef HOSTSIM_SIM_SHRINK_H
#define HOSTSIM_SIM_SHRINK_H

#include "sim/schedule.h"

/* Plays a schedule; true: it still shows the difference. */
typedef bool shrink_trial(void *context, const struct schedule *schedule);

/* Removes ever smaller chunks of steps, then sets bytes to zero, as long as the schedule still
 * differs. It makes at most `trials` trials, and returns how many. */
unsigned schedule_shrink(struct schedule *schedule, shrink_trial *trial, void *context,
                         unsigned trials);

#endif
