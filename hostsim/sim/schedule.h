/* SPDX-License-Identifier: MIT
 *
 * sim/schedule.h: a schedule is a byte string: a head with the settings at the beginning, then
 * steps of equal size. Every byte string is a schedule, so schedules can be made at random, stored,
 * replayed and cut. A step refers to the model's state at that moment ("the turn's ids", "the
 * newest delivery"), so most steps still make sense if others are left out.
 */
#ifndef HOSTSIM_SIM_SCHEDULE_H
#define HOSTSIM_SIM_SCHEDULE_H

#include "sim/model/model.h"

#include <stddef.h>

enum { SCHEDULE_HEAD = 8, SCHEDULE_STEP = 8, SCHEDULE_MIN_STEPS = 20, SCHEDULE_MAX_STEPS = 200 };

struct schedule {
  size_t step_count;
  uint8_t head[SCHEDULE_HEAD];
  uint8_t steps[SCHEDULE_MAX_STEPS][SCHEDULE_STEP];
};

/* Makes the n-th schedule of a seed. */
void schedule_random(struct schedule *ret_schedule, uint64_t seed, uint64_t n);

/* Returns 0, or -1: `bytes` is too long, or has no whole number of steps. */
int schedule_from_bytes(struct schedule *ret_schedule, const uint8_t *bytes, size_t len);

/* Returns how many bytes were written; `bytes` has room for SCHEDULE_HEAD + SCHEDULE_MAX_STEPS *
 * SCHEDULE_STEP. */
size_t schedule_to_bytes(const struct schedule *schedule, uint8_t *bytes);

/* Reads the settings in the head. schedule_is_separate: the host runs in its own process, and can
 * be killed. */
void schedule_settings(const uint8_t head[SCHEDULE_HEAD], struct sim_settings *ret_settings);
bool schedule_is_separate(const uint8_t head[SCHEDULE_HEAD]);
/* Do items count as delivered when the hook that hands them out returns? */
bool schedule_is_one_phase(const uint8_t head[SCHEDULE_HEAD]);

/* Decodes a step in the state of the model. `serial` is its number, from 1. If the host is not
 * separate, its rival is killed instead. */
void schedule_decode(const uint8_t step[SCHEDULE_STEP], uint32_t serial, const struct model *model,
                     bool separate, struct act *ret_act);

/* Makes a tool result with room for everything. False: nothing is pending, or nobody owns the
 * session. */
bool schedule_deliver(const struct model *model, uint32_t serial, struct act *ret_act);

/* Makes the next step of an ordinary host: it follows the last offer, ends its turn, or settles.
 * For the end of a schedule, when everything that waits must be delivered. False: nothing is left
 * to do. */
bool schedule_follow(const struct model *model, uint32_t serial, struct act *ret_act);

#endif
