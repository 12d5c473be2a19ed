/* SPDX-License-Identifier: MIT
 */
#include "store/db/deadline.h"

#include <limits.h>
#include <time.h>

static uint64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t store_uptime_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

store_deadline store_deadline_in(uint32_t budget_ms) {
  return monotonic_ns() + (uint64_t)budget_ms * 1000000u;
}

int store_deadline_left_ms(store_deadline deadline) {
  uint64_t now = monotonic_ns();
  uint64_t left = deadline > now ? (deadline - now + 999999u) / 1000000u : 0;
  return left < INT_MAX ? (int)left : INT_MAX;
}
