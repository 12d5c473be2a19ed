/* SPDX-License-Identifier: MIT
 *
 * common/siphash.c: reads bytes as little-endian numbers on every machine.
 */
#include "common/siphash.h"

struct state {
  uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t value, unsigned bits) {
  return value << bits | value >> (64 - bits);
}

static uint64_t read_little_endian(const uint8_t *bytes, size_t count) {
  uint64_t number = 0;
  for (size_t i = 0; i < count; i++) number |= (uint64_t)bytes[i] << (8 * i);
  return number;
}

static void mix(struct state *s, int rounds) {
  while (rounds-- > 0) {
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 = rotate(s->v2, 32);
  }
}

static void absorb(struct state *s, uint64_t word) {
  s->v3 ^= word;
  mix(s, 2);
  s->v0 ^= word;
}

uint64_t siphash(const uint8_t key[16], struct tidings_span text) {
  uint64_t low = read_little_endian(key, 8), high = read_little_endian(key + 8, 8);
  struct state s = {low ^ UINT64_C(0x736f6d6570736575), high ^ UINT64_C(0x646f72616e646f6d),
                    low ^ UINT64_C(0x6c7967656e657261), high ^ UINT64_C(0x7465646279746573)};
  const uint8_t *bytes = (const uint8_t *)text.ptr;
  size_t at = 0;
  for (; text.len - at >= 8; at += 8) absorb(&s, read_little_endian(bytes + at, 8));
  absorb(&s, read_little_endian(bytes + at, text.len - at) | (uint64_t)text.len << 56);
  s.v2 ^= 0xff;
  mix(&s, 4);
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
