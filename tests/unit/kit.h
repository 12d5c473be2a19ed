/* SPDX-License-Identifier: MIT
 *
 * tests/unit/kit.h: functions that the unit tests share: errors, settings, repeatable random
 * numbers, golden files.
 */
#ifndef TESTS_UNIT_KIT_H
#define TESTS_UNIT_KIT_H

#include <stdbool.h>

#include "common/arena.h"
#include "common/buffer.h"
#include "values/settings.h"

static inline struct tidings_error new_error(void) {
  struct tidings_error error = {.size = sizeof error, .code = 0, .text = ""};
  return error;
}

/* Random numbers from a seed: splitmix64. */
struct random {
  uint64_t state;
};
uint64_t random_next(struct random *random);
static inline size_t random_below(struct random *random, size_t end) {
  return end ? (size_t)(random_next(random) % end) : 0;
}

/* Settings from JSON ("" for the defaults), which must be right. Lives as long as the arena. */
struct settings settings_from(const char *json, struct arena *arena);

/* Fails the test, and shows both, unless the bytes are those of golden/NAME. */
void expect_golden(const char *name, struct tidings_span bytes);

/* A NUL-terminated copy that stays until the test's process ends. */
const char *text_of(struct tidings_span span);

#endif
