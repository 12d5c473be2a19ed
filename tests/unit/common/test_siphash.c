/* SPDX-License-Identifier: MIT
 *
 * SipHash-2-4 against results that its authors have published.
 */
#include <criterion/criterion.h>

#include "common/siphash.h"

Test(siphash, published_results) {
  static const uint64_t expected[] = {
      UINT64_C(0x726fdb47dd0e0e31), UINT64_C(0x74f839c593dc67fd), UINT64_C(0x0d6c8009d9a94f5a),
      UINT64_C(0x85676696d7fb7e2d), UINT64_C(0xcf2794e0277187b7), UINT64_C(0x18765564cd99a68d),
      UINT64_C(0xcbc9466e58fee3ce), UINT64_C(0xab0200f58b01d137), UINT64_C(0x93f5f5799a932462)};
  uint8_t key[16];
  char text[16];
  for (int i = 0; i < 16; i++) {
    key[i] = (uint8_t)i;
    text[i] = (char)i;
  }
  for (size_t len = 0; len < sizeof expected / sizeof *expected; len++)
    cr_expect_eq(siphash(key, span_of(text, len)), expected[len], "%zu bytes", len);
  cr_expect_eq(siphash(key, span_of(text, 15)), UINT64_C(0xa129ca6149be45e5));
}
