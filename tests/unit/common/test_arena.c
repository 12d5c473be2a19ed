/* SPDX-License-Identifier: MIT
 *
 * Arrays in an arena that become larger.
 */
#include <criterion/criterion.h>
#include <stdint.h>

#include "common/arena.h"

Test(arena, enlarge_keeps_what_was_there) {
  struct arena arena = ARENA_EMPTY;
  uint64_t *numbers = NULL;
  size_t capacity = 0;
  for (uint64_t n = 0; n < 10000; n++) {
    if (n == capacity) numbers = arena_enlarge(&arena, numbers, &capacity, sizeof *numbers);
    cr_assert_not_null(numbers);
    cr_assert_lt(n, capacity);
    numbers[n] = n;
  }
  for (uint64_t n = 0; n < 10000; n++) cr_assert_eq(numbers[n], n);
  arena_free(&arena);
}

Test(arena, enlarge_beyond_all_memory_is_refused) {
  struct arena arena = ARENA_EMPTY;
  char some[64] = "";
  for (size_t full = SIZE_MAX / 4 + 1; full; full *= 2) {
    size_t capacity = full;
    cr_assert_null(arena_enlarge(&arena, some, &capacity, 8));
    cr_assert_eq(capacity, full);
  }
  arena_free(&arena);
}
