/* SPDX-License-Identifier: MIT
 *
 * planted.c: cases with a fault that only a sanitizer sees: planted.sh checks that run_test.sh
 * fails them. `./dev check` does not read this file.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

Test(planted, sound) { cr_assert_eq(1 + 1, 2); }

Test(planted, leak) {
  char *volatile memory = malloc(33);
  cr_assert_not_null(memory);
  memory = NULL;
}

Test(planted, use_after_free) {
  char *volatile memory = malloc(33);
  cr_assert_not_null(memory);
  memset(memory, 0, 33);
  free(memory);
  cr_assert_eq(memory[7], memory[7]);
}

Test(planted, overflow) {
  volatile int number = INT_MAX;
  number = number + 1;
  cr_assert_lt(number, 0);
}
