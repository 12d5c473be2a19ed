/* SPDX-License-Identifier: MIT
 *
 * kit/random.h: repeatable randomness (splitmix64).
 */
#ifndef KIT_RANDOM_H
#define KIT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
  uint64_t state;
};

static inline uint64_t random_mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static inline struct random random_seeded(uint64_t seed, uint64_t stream) {
  return (struct random){random_mix(seed + 0x9e3779b97f4a7c15u) ^
                         random_mix(stream * 0xd1342543de82ef95u + 1)};
}

static inline uint64_t random_next(struct random *random) {
  random->state += 0x9e3779b97f4a7c15u;
  return random_mix(random->state);
}

/* Returns a number below `limit`, which must not be 0. Its small bias does not matter here. */
static inline uint64_t random_below(struct random *random, uint64_t limit) {
  return random_next(random) % limit;
}

static inline bool random_chance(struct random *random, uint64_t percent) {
  return random_below(random, 100) < percent;
}

#endif
