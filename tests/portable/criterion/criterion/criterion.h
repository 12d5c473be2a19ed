/* SPDX-License-Identifier: MIT
 *
 * criterion/criterion.h: the part of Criterion's interface that these tests use, for machines and C
 * libraries without Criterion. Each case runs in a forked process; the output is TAP. The names are
 * Criterion's, so that the tests are the same everywhere.
 *
 * A case that cannot pass on a platform is named in the file $TIDINGS_SKIPS, one a line:
 * "suite::case reason". It is not run, and the reason is printed.
 */
#ifndef CRITERION_CRITERION_H
#define CRITERION_CRITERION_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct cr_case {
  const char *suite, *name;
  void (*run)(void); /* NULL: this is a suite, with what its cases share */
  void (*init)(void);
  void (*fini)(void);
  double timeout; /* in seconds; ctest limits the program as a whole */
  int none;
  struct cr_case *next;
};

void cr_register(struct cr_case *one);
/* `format`, if not NULL, and the arguments after it are the test's message. */
void cr_failed(bool fatal, const char *file, int line, const char *text, const char *format, ...);
_Noreturn void cr_skip(const char *format, ...);

#define TestSuite(...) CR_SUITE(__VA_ARGS__, .none = 0)
#define CR_SUITE(suite_, ...)                                                                      \
  static struct cr_case suite_##_suite_ = {.suite = #suite_, __VA_ARGS__};                         \
  __attribute__((constructor)) static void suite_##_suite_register(void) {                         \
    cr_register(&suite_##_suite_);                                                                 \
  }                                                                                                \
  struct cr_case

#define Test(...) CR_TEST(__VA_ARGS__, .none = 0)
#define CR_TEST(suite_, name_, ...)                                                                \
  static void suite_##_##name_##_run(void);                                                        \
  static struct cr_case suite_##_##name_##_case = {                                                \
      .suite = #suite_, .name = #name_, .run = suite_##_##name_##_run, __VA_ARGS__};               \
  __attribute__((constructor)) static void suite_##_##name_##_register(void) {                     \
    cr_register(&suite_##_##name_##_case);                                                         \
  }                                                                                                \
  static void suite_##_##name_##_run(void)

/* Arguments after those that a check compares are its message. CR_END replaces a missing one; after
 * a message nothing reads it. */
#define CR_END (char *)NULL
#define CR_FIRST(first, ...) first
#define CR_AFTER_FIRST(first, ...) __VA_ARGS__
#define CR_CHECK(fatal, condition, text, ...)                                                      \
  do {                                                                                             \
    if (!(condition)) cr_failed(fatal, __FILE__, __LINE__, text, __VA_ARGS__);                     \
  } while (0)
#define CR_TRUTH(fatal, condition, ...) CR_CHECK(fatal, condition, #condition, __VA_ARGS__)
#define CR_LIE(fatal, condition, ...) CR_CHECK(fatal, !(condition), "!" #condition, __VA_ARGS__)
#define CR_COMPARE(fatal, relation, a, ...)                                                        \
  CR_CHECK(fatal, (a)relation(CR_FIRST(__VA_ARGS__)), #a " " #relation " its value",               \
           CR_AFTER_FIRST(__VA_ARGS__))
#define CR_STRINGS(fatal, a, ...)                                                                  \
  CR_CHECK(fatal, strcmp(a, CR_FIRST(__VA_ARGS__)) == 0, #a " is its text",                        \
           CR_AFTER_FIRST(__VA_ARGS__))
#define CR_BYTES(fatal, a, b, ...)                                                                 \
  CR_CHECK(fatal, memcmp(a, b, CR_FIRST(__VA_ARGS__)) == 0, #a " has its bytes",                   \
           CR_AFTER_FIRST(__VA_ARGS__))

#define cr_assert(...) CR_TRUTH(true, __VA_ARGS__, CR_END)
#define cr_assert_not(...) CR_LIE(true, __VA_ARGS__, CR_END)
#define cr_assert_null(...) CR_LIE(true, __VA_ARGS__, CR_END)
#define cr_assert_not_null(...) CR_TRUTH(true, __VA_ARGS__, CR_END)
#define cr_assert_eq(...) CR_COMPARE(true, ==, __VA_ARGS__, CR_END)
#define cr_assert_neq(...) CR_COMPARE(true, !=, __VA_ARGS__, CR_END)
#define cr_assert_lt(...) CR_COMPARE(true, <, __VA_ARGS__, CR_END)
#define cr_assert_leq(...) CR_COMPARE(true, <=, __VA_ARGS__, CR_END)
#define cr_assert_gt(...) CR_COMPARE(true, >, __VA_ARGS__, CR_END)
#define cr_assert_geq(...) CR_COMPARE(true, >=, __VA_ARGS__, CR_END)
#define cr_assert_str_eq(...) CR_STRINGS(true, __VA_ARGS__, CR_END)
#define cr_assert_arr_eq(...) CR_BYTES(true, __VA_ARGS__, CR_END)
#define cr_expect(...) CR_TRUTH(false, __VA_ARGS__, CR_END)
#define cr_expect_not(...) CR_LIE(false, __VA_ARGS__, CR_END)
#define cr_expect_null(...) CR_LIE(false, __VA_ARGS__, CR_END)
#define cr_expect_not_null(...) CR_TRUTH(false, __VA_ARGS__, CR_END)
#define cr_expect_eq(...) CR_COMPARE(false, ==, __VA_ARGS__, CR_END)
#define cr_expect_neq(...) CR_COMPARE(false, !=, __VA_ARGS__, CR_END)
#define cr_expect_lt(...) CR_COMPARE(false, <, __VA_ARGS__, CR_END)
#define cr_expect_leq(...) CR_COMPARE(false, <=, __VA_ARGS__, CR_END)
#define cr_expect_gt(...) CR_COMPARE(false, >, __VA_ARGS__, CR_END)
#define cr_expect_geq(...) CR_COMPARE(false, >=, __VA_ARGS__, CR_END)
#define cr_expect_str_eq(...) CR_STRINGS(false, __VA_ARGS__, CR_END)
#define cr_expect_arr_eq(...) CR_BYTES(false, __VA_ARGS__, CR_END)
#define cr_assert_str_not_empty(a) CR_TRUTH(true, *(a), CR_END)
#define cr_assert_fail(...) cr_failed(true, __FILE__, __LINE__, "failed", __VA_ARGS__)
#define cr_skip_test(...) cr_skip(__VA_ARGS__)

#endif
