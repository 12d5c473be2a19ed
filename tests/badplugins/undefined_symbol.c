/* SPDX-License-Identifier: MIT
 *
 * undefined_symbol.c: needs a function that does not exist, like a plugin that was linked without
 * its library.
 */
#include "bad.h"

extern int32_t function_that_nobody_has(void);

static int32_t open_unresolved(OPEN_ARGUMENTS) {
  UNUSED_ARGUMENTS;
  return function_that_nobody_has();
}

EXPORT_ENTRY(open_unresolved);
