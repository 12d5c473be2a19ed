/* SPDX-License-Identifier: MIT
 *
 * coverage/dump.c: is part of every program and library of a build with TIDINGS_COVERAGE. Each has
 * its own __gcov_dump, which others cannot call, so it registers that function.
 */
#include <gcov.h>

#include "dump.h"

__attribute__((constructor)) static void announce(void) { coverage_add(__gcov_dump); }

__attribute__((destructor)) static void withdraw(void) { coverage_remove(__gcov_dump); }
