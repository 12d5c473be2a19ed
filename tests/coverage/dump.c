/* SPDX-License-Identifier: MIT
 *
 * coverage/dump.c: is part of every program and library of a build with TIDINGS_COVERAGE. Each has
 * its own __gcov_dump, which others cannot call, so it registers that function.
 */
#include <gcov.h>

#include "dump.h"

/* If again/faults.c is linked too, no call may fail any more: writing the counts allocates. */
__attribute__((weak)) int faults_disarm(void);

static void write_counts(void) {
  if (faults_disarm) (void)faults_disarm();
  __gcov_dump();
}

__attribute__((constructor)) static void announce(void) { coverage_add(write_counts); }

__attribute__((destructor)) static void withdraw(void) { coverage_remove(write_counts); }
