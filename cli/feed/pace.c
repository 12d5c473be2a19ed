/* SPDX-License-Identifier: MIT
 */
#include "cli/feed/pace.h"

static bool is_over(const struct pace *pace, int64_t now_ms) {
  return now_ms < pace->begun_ms || now_ms - pace->begun_ms >= PACE_MINUTE_MS;
}

/* While something is held back, the minute goes on until pace_over has said it. */
bool pace_take(struct pace *pace, int64_t now_ms) {
  if (!pace->per_minute) return true;
  if (!pace->held && is_over(pace, now_ms)) {
    pace->begun_ms = now_ms;
    pace->passed = 0;
  }
  if (pace->passed < pace->per_minute) {
    pace->passed++;
    return true;
  }
  pace->held++;
  return false;
}

uint64_t pace_over(struct pace *pace, int64_t now_ms, bool last) {
  uint64_t held = pace->held;
  if (!held || (!last && !is_over(pace, now_ms))) return 0;
  pace->held = 0;
  pace->passed = 0;
  pace->begun_ms = now_ms;
  return held;
}

int pace_wait_ms(const struct pace *pace, int64_t now_ms) {
  if (!pace->held) return -1;
  return is_over(pace, now_ms) ? 0 : (int)(PACE_MINUTE_MS - (now_ms - pace->begun_ms));
}
