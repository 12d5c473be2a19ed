/* SPDX-License-Identifier: MIT
 *
 * constructor_exits.c: ends its process while it is loaded.
 */
#include <stdlib.h>

#include "bad.h"

__attribute__((constructor)) static void leave(void) {
  (void)puts("goodbye"); /* must not reach the host's terminal */
  exit(0);
}

static int32_t open_unreached(OPEN_ARGUMENTS) {
  UNUSED_ARGUMENTS;
  return TIDINGS_E_STATE;
}

EXPORT_ENTRY(open_unreached);
