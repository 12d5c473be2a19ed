/* SPDX-License-Identifier: MIT
 *
 * sim/shrink.h: the fewest steps that still differ.
 */
#ifndef HOSTSIM_SIM_SHRINK_H
#define HOSTSIM_SIM_SHRINK_H

#include "sim/schedule.h"

/* Plays a schedule; true: it still shows the difference. */
typedef bool shrink_trial(void *context, const struct schedule *schedule);

/* Leaves out chunks of steps, smaller and smaller ones, then sets bytes to zero, as long as the
 * trial holds. At most `trials` of them are made. Returns how many. */
unsigned schedule_shrink(struct schedule *schedule, shrink_trial *trial, void *context,
                         unsigned trials);

#endif
