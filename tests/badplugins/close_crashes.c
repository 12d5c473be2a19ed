/* SPDX-License-Identifier: MIT
 *
 * close_crashes.c: opens, and crashes in close.
 */
#include <stdlib.h>

#include "bad.h"

static int32_t close_crashing(struct tidings_plugin *plugin, struct tidings_error *error) {
  (void)plugin, (void)error;
  abort();
}

static int32_t open_well(OPEN_ARGUMENTS) {
  static struct tidings_plugin instance = WHOLE_INSTANCE(close_crashing);
  UNUSED_ARGUMENTS;
  *ret_plugin = &instance;
  return TIDINGS_OK;
}

EXPORT_ENTRY(open_well);
