/* SPDX-License-Identifier: MIT
 *
 * open_fails_silently.c: its open fails without a sentence.
 */
#include "bad.h"

static int32_t open_failing(OPEN_ARGUMENTS) {
  UNUSED_ARGUMENTS;
  return TIDINGS_E_STORE;
}

EXPORT_ENTRY(open_failing);
