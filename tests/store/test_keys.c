/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_keys.c: bytes order keys as their numbers do.
 */
#include <criterion/criterion.h>

#include "kit.h"
#include "store/rows/keys.h"

static int order(struct db_key a, struct db_key b) {
  int result = memcmp(a.bytes, b.bytes, DB_KEY_BYTES);
  return result < 0 ? -1 : result > 0;
}

Test(keys, order_is_session_then_kind_then_n) {
  static const uint32_t sessions[] = {0, 1, 255, 256, 65536, 0x7fffffff, 0x80000000, UINT32_MAX};
  static const enum row_kind kinds[] = {ROW_META, ROW_NAME,     ROW_HEAD,
                                        ROW_ITEM, ROW_DELIVERY, ROW_DEDUP};
  static const uint64_t ns[] = {
      0, 1, 255, 256, UINT32_MAX, (uint64_t)1 << 32, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX};
  struct db_key before = row_key(0, ROW_META, 0);
  bool first = true;
  for (size_t s = 0; s < sizeof sessions / sizeof *sessions; s++) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      for (size_t n = 0; n < sizeof ns / sizeof *ns; n++) {
        struct db_key key = row_key(sessions[s], kinds[k], ns[n]);
        cr_assert_eq(row_key_n(key.bytes), ns[n]);
        if (!first)
          cr_assert_eq(order(before, key), -1, "session %u kind %d n %llu", sessions[s], kinds[k],
                       (unsigned long long)ns[n]);
        before = key;
        first = false;
      }
    }
  }
}

Test(keys, the_layout_is_what_stores_have) {
  static const uint8_t expected[DB_KEY_BYTES] = {0x01, 0x02, 0x03, 0x04, 4,    0x11, 0x12,
                                                 0x13, 0x14, 0x15, 0x16, 0x17, 0x18};
  struct db_key key = row_key(0x01020304, ROW_ITEM, 0x1112131415161718);
  cr_assert_eq(memcmp(key.bytes, expected, DB_KEY_BYTES), 0);
}
