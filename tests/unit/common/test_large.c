/* SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "common/large.h"

enum { LARGE = 2 << 20 };

Test(large, gives_what_was_asked_for) {
  static const size_t sizes[] = {1, 4096, LARGE - 1, LARGE, LARGE + 1, 5 * LARGE - 7};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    unsigned char *at = large_alloc(sizes[i]);
    cr_assert_not_null(at);
    memset(at, 0x5a, sizes[i]);
    cr_expect_eq(at[sizes[i] - 1], 0x5a);
    free(at);
  }
}

Test(large, large_memory_begins_where_a_large_page_does) {
  void *at = large_alloc(LARGE + 1);
  cr_expect_eq((uintptr_t)at % LARGE, 0);
  free(at);
}
