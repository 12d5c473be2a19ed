/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_crc.c: CRC-32C gives the published results, and the table gives the same results
 * as the processor's instruction. The table is tested by compiling the module again as for a
 * processor without the instruction.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"
#include "store/db/crc32c.h"

uint32_t crc32c_by_table(uint32_t crc, const void *bytes, size_t len);
#undef __x86_64__
#define crc32c crc32c_by_table
// NOLINTNEXTLINE(bugprone-suspicious-include): this is how the table is reached
#include "store/db/crc32c.c"
#undef crc32c

/* RFC 3720, B.4. */
Test(crc, answers_of_the_rfc) {
  uint8_t bytes[32];
  static const struct {
    int first, step;
    uint32_t crc;
  } cases[] = {{0, 0, 0x8a9136aa}, {0xff, 0, 0x62a8ab43}, {0, 1, 0x46dd794e}, {31, -1, 0x113fdb5c}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int j = 0; j < 32; j++) bytes[j] = (uint8_t)(cases[i].first + j * cases[i].step);
    cr_assert_eq(crc32c(0, bytes, sizeof bytes), cases[i].crc, "case %zu: %08x", i,
                 crc32c(0, bytes, sizeof bytes));
    cr_assert_eq(crc32c_by_table(0, bytes, sizeof bytes), cases[i].crc, "case %zu", i);
  }
  cr_assert_eq(crc32c(0, "123456789", 9), 0xe3069283);
  cr_assert_eq(crc32c_by_table(0, "123456789", 9), 0xe3069283);
  cr_assert_eq(crc32c(0, "", 0), 0);
}

Test(crc, instruction_and_table_agree_at_every_length_and_cut) {
  struct random random = {.state = 5};
  for (size_t len = 0; len < 200; len++) {
    uint8_t *bytes = malloc(len ? len : 1);
    cr_assert_not_null(bytes);
    for (size_t i = 0; i < len; i++) bytes[i] = (uint8_t)random_next(&random);
    uint32_t whole = crc32c(0, bytes, len);
    cr_assert_eq(whole, crc32c_by_table(0, bytes, len), "length %zu", len);
    size_t cut = random_below(&random, len + 1);
    cr_assert_eq(crc32c(crc32c(0, bytes, cut), bytes + cut, len - cut), whole,
                 "length %zu cut at %zu", len, cut);
    cr_assert_eq(crc32c_by_table(crc32c_by_table(0, bytes, cut), bytes + cut, len - cut), whole);
    free(bytes);
  }
}
