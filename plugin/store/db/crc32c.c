/* SPDX-License-Identifier: MIT
 *
 * store/db/crc32c.c: by the processor's instruction where it has one, else by a table of 16
 * entries: small, and quick enough for records of a few hundred bytes.
 */
#include "store/db/crc32c.h"

#include <string.h>

static uint32_t by_table(uint32_t crc, const uint8_t *bytes, size_t len) {
  static const uint32_t nibble[16] = {
      0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
      0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
      0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
  };
  for (size_t i = 0; i < len; i++) {
    crc ^= bytes[i];
    crc = crc >> 4 ^ nibble[crc & 15];
    crc = crc >> 4 ^ nibble[crc & 15];
  }
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *bytes,
                                                                 size_t len) {
  uint64_t wide = crc;
  for (; len >= 8; bytes += 8, len -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = (uint32_t)wide;
  for (; len; bytes++, len--) crc = __builtin_ia32_crc32qi(crc, *bytes);
  return crc;
}
#endif

uint32_t crc32c(uint32_t crc, const void *bytes, size_t len) {
  crc = ~crc;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~by_instruction(crc, bytes, len);
#endif
  return ~by_table(crc, bytes, len);
}
