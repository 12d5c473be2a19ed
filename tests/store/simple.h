/* SPDX-License-Identifier: MIT
 *
 * tests/store/simple.h: a folder, a host and a check for the programs with threads, which have no
 * test framework.
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
