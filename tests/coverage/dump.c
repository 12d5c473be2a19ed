/* SPDX-License-Identifier: MIT
 *
 * coverage/dump.c: is part of every program and library of a build with TIDINGS_COVERAGE. It
 * registers the __gcov_dump of each, which others cannot call.
 */
#include <gcov.h>

#include "dump.h"

/* If again/faults.c is linked too, its faults must stop, because writing the counts allocates. */
__attribute__((weak)) int faults_disarm(void);

static void write_counts(void) {
  if (faults_disarm) (void)faults_disarm();
  __gcov_dump();
}

__attribute__((constructor)) static void announce(void) { coverage_add(write_counts); }

__attribute__((destructor)) static void withdraw(void) { coverage_remove(write_counts); }
