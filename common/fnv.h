/* SPDX-License-Identifier: MIT
 *
 * common/fnv.h: FNV-1a with 64 bits: a short hash without a key, by which the store finds rows. It
 * resists no attacker: anybody can find two texts with the same hash.
 */
#ifndef COMMON_FNV_H
#define COMMON_FNV_H

#include <stdint.h>

#include "common/span.h"

static const uint64_t FNV_START = UINT64_C(0xcbf29ce484222325);

static inline uint64_t fnv_byte(uint64_t hash, uint8_t byte) {
  return (hash ^ byte) * UINT64_C(0x100000001b3);
}

/* Texts that are hashed one after the other count as one text. */
static inline uint64_t fnv_span(uint64_t hash, struct tidings_span text) {
  for (size_t i = 0; i < text.len; i++) hash = fnv_byte(hash, (uint8_t)text.ptr[i]);
  return hash;
}

#endif
