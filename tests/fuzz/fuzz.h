/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz.h: declares a fuzz target, and how it reports a problem. It needs neither
 * libFuzzer nor a test framework.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MUST(condition, ...)                                                                       \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s is false: ", __FILE__, __LINE__, #condition);                     \
      fprintf(stderr, __VA_ARGS__);                                                                \
      fputc('\n', stderr);                                                                         \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

#endif
