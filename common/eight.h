/* SPDX-License-Identifier: MIT
 *
 * common/eight.h: reads eight bytes of a text at once, for loops that look for a few rare bytes. A
 * tool's result passes through several such loops at each call.
 */
#ifndef COMMON_EIGHT_H
#define COMMON_EIGHT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const uint64_t EIGHT_ONES = 0x0101010101010101u, EIGHT_HIGHS = 0x8080808080808080u;

/* Returns the eight bytes from `at` on, which must exist. The first is the lowest. */
static inline uint64_t eight_at(const char *at) {
  uint64_t eight;
  memcpy(&eight, at, sizeof eight);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  eight = __builtin_bswap64(eight);
#endif
  return eight;
}

/* Each of the next three functions marks the bytes that match; 0: none does. Only the first mark,
 * which eight_first finds, is certain; later ones may be wrong. Results may be joined by |.
 */

/* `limit` is 128 at most. */
static inline uint64_t eight_less(uint64_t eight, unsigned char limit) {
  return (eight - EIGHT_ONES * limit) & ~eight & EIGHT_HIGHS;
}

static inline uint64_t eight_equal(uint64_t eight, unsigned char byte) {
  return eight_less(eight ^ EIGHT_ONES * byte, 1);
}

static inline uint64_t eight_beyond_ascii(uint64_t eight) { return eight & EIGHT_HIGHS; }

static inline unsigned eight_first(uint64_t found) { return (unsigned)__builtin_ctzll(found) / 8; }

#endif
