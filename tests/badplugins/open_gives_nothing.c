/* SPDX-License-Identifier: MIT
 *
 * open_gives_nothing.c: its open succeeds and hands out no instance.
 */
#include "bad.h"

static int32_t open_empty(OPEN_ARGUMENTS) {
  UNUSED_ARGUMENTS;
  return TIDINGS_OK;
}

EXPORT_ENTRY(open_empty);
