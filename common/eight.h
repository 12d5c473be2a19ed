/* SPDX-License-Identifier: MIT
 *
 * common/eight.h: eight bytes of a text at once, for loops that look for a few rare bytes. A tool's
 * result passes through several of them at each call. All answers are exact.
 */
#ifndef COMMON_EIGHT_H
#define COMMON_EIGHT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const uint64_t EIGHT_ONES = 0x0101010101010101u, EIGHT_HIGHS = 0x8080808080808080u;

/* The bytes from `at` on; there must be eight. */
static inline uint64_t eight_at(const char *at) {
  uint64_t eight;
  memcpy(&eight, at, sizeof eight);
  return eight;
}

/* Is one of them less than `limit`, which is 128 at most? */
static inline bool eight_have_less(uint64_t eight, unsigned char limit) {
  return (eight - EIGHT_ONES * limit) & ~eight & EIGHT_HIGHS;
}

static inline bool eight_have(uint64_t eight, char byte) {
  return eight_have_less(eight ^ EIGHT_ONES * (unsigned char)byte, 1);
}

static inline bool eight_are_ascii(uint64_t eight) { return !(eight & EIGHT_HIGHS); }

#endif
