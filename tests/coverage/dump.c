/* SPDX-License-Identifier: MIT
 *
 * coverage/dump.c: part of every program and library of a build with TIDINGS_COVERAGE. Each has a
 * __gcov_dump of its own, which nobody else sees.
 */
#include <gcov.h>

#include "dump.h"

__attribute__((constructor)) static void announce(void) { coverage_add(__gcov_dump); }

__attribute__((destructor)) static void withdraw(void) { coverage_remove(__gcov_dump); }
