/* SPDX-License-Identifier: MIT
 *
 * open_exits.c: ends its process in open.
 */
#include <unistd.h>

#include "bad.h"

static int32_t open_exiting(OPEN_ARGUMENTS) {
  UNUSED_ARGUMENTS;
  _exit(3);
}

EXPORT_ENTRY(open_exiting);
