/* SPDX-License-Identifier: MIT
 *
 * constructor_hangs.c: never returns from its constructor.
 */
#include <unistd.h>

#include "bad.h"

__attribute__((constructor)) static void hang(void) {
  for (;;) pause();
}

static int32_t open_unreached(OPEN_ARGUMENTS) {
  UNUSED_ARGUMENTS;
  return TIDINGS_E_STATE;
}

EXPORT_ENTRY(open_unreached);
