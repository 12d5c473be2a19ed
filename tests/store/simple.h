/* SPDX-License-Identifier: MIT
 *
 * tests/store/simple.h: the little that the programs of threads need, which run without a test
 * framework: a folder, a host, a check.
 */
#ifndef TESTS_STORE_SIMPLE_H
#define TESTS_STORE_SIMPLE_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <tidings/tidings.h>

#define SIMPLE_CHECK(condition)                                                                    \
  do {                                                                                             \
    if (condition) break;                                                                          \
    (void)fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);            \
    exit(1);                                                                                       \
  } while (0)

char *simple_folder(void); /* malloc'ed path of a new folder */
void simple_remove(char *folder);
struct tidings_plugin *simple_open(const char *folder, uint32_t role); /* a store in it */

#endif
