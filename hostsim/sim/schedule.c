/* SPDX-License-Identifier: MIT
 *
 * sim/schedule.c: makes schedules from random numbers and bytes, and reads their heads. decode.c
 * decodes the steps.
 */
#include "sim/schedule.h"

#include <string.h>

#include "host/simhost.h"

void schedule_random(struct schedule *ret_schedule, uint64_t seed, uint64_t n) {
  uint64_t state = seed;
  state = simhost_random(&state) ^ n * UINT64_C(0xD1342543DE82EF95);
  memset(ret_schedule, 0, sizeof *ret_schedule);
  uint64_t head = simhost_random(&state);
  memcpy(ret_schedule->head, &head, SCHEDULE_HEAD);
  ret_schedule->step_count =
      SCHEDULE_MIN_STEPS + simhost_random(&state) % (SCHEDULE_MAX_STEPS - SCHEDULE_MIN_STEPS + 1);
  for (size_t i = 0; i < ret_schedule->step_count; i++) {
    uint64_t step = simhost_random(&state);
    memcpy(ret_schedule->steps[i], &step, SCHEDULE_STEP);
  }
}

int schedule_from_bytes(struct schedule *ret_schedule, const uint8_t *bytes, size_t len) {
  if (len < SCHEDULE_HEAD || (len - SCHEDULE_HEAD) % SCHEDULE_STEP != 0 ||
      len > SCHEDULE_HEAD + sizeof ret_schedule->steps)
    return -1;
  memset(ret_schedule, 0, sizeof *ret_schedule);
  memcpy(ret_schedule->head, bytes, SCHEDULE_HEAD);
  memcpy(ret_schedule->steps, bytes + SCHEDULE_HEAD, len - SCHEDULE_HEAD);
  ret_schedule->step_count = (len - SCHEDULE_HEAD) / SCHEDULE_STEP;
  return 0;
}

size_t schedule_to_bytes(const struct schedule *schedule, uint8_t *bytes) {
  memcpy(bytes, schedule->head, SCHEDULE_HEAD);
  memcpy(bytes + SCHEDULE_HEAD, schedule->steps, schedule->step_count * SCHEDULE_STEP);
  return SCHEDULE_HEAD + schedule->step_count * SCHEDULE_STEP;
}

/* A head of zeros is a host in this process, with the defaults. */
bool schedule_is_separate(const uint8_t head[SCHEDULE_HEAD]) { return head[0] >= 248; }

bool schedule_is_one_phase(const uint8_t head[SCHEDULE_HEAD]) { return head[4] >= 240; }

void schedule_settings(const uint8_t head[SCHEDULE_HEAD], struct sim_settings *ret_settings) {
  static const uint32_t delays[] = {0, 0, 5000, 1000}, auto_turns[] = {8, 8, 8, 2, 1, 0, 8, 3};
  static const uint32_t aborts[] = {3, 3, 1, 0}, windows[] = {60000, 60000, 1000, 60000},
                        items[] = {0, 0, 0, 0, 0, 0, 1, 2};
  static const uint8_t preambles[] = {SAID_CHOICES, SAID_CHOICES, SAID_CHOICES, SAID_FIRST,
                                      SAID_FIRST,   SAID_FIRST,   SAID_NEVER,   SAID_ALWAYS};
  static const uint32_t ages[] = {0, 1000, 60000, 10000};
  static const uint8_t filters[] = {FILTER_NONE, FILTER_NONE, FILTER_NONE,        FILTER_NONE,
                                    FILTER_NONE, FILTER_CI,   FILTER_TOOL_FAILED, FILTER_ALL};
  *ret_settings = (struct sim_settings){
      .coalescing = (head[1] & 1) != 0,
      .settle_delay_ms = delays[head[1] >> 1 & 3],
      .hold = (head[1] >> 3 & 3) == 3,
      .max_auto_turns = auto_turns[head[1] >> 5],
      .force = (head[2] & 7) != 7,
      .max_aborts = aborts[head[2] >> 3 & 3],
      .abort_window_ms = windows[head[2] >> 5 & 3],
      .filter = filters[head[3] & 7],
      .max_items = items[head[3] >> 3 & 7],
      .pending_limit = head[3] >> 6 == 3 ? 20 : 10000,
      .look = head[5] % LOOKS,
      .age_after_ms = ages[head[6] & 3],
      .preamble = preambles[head[6] >> 2 & 7],
      .order = (head[5] >> 4) < 8    ? BY_LEVEL
               : (head[5] >> 4) < 12 ? BY_TIME
                                     : BY_NEWEST,
  };
}
