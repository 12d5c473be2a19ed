/* SPDX-License-Identifier: MIT
 *
 * missing_settle.c: its instance has no function settle.
 */
#include "bad.h"

static int32_t do_close(struct tidings_plugin *plugin, struct tidings_error *error) {
  (void)plugin, (void)error;
  return TIDINGS_OK;
}

static int32_t open_incomplete(OPEN_ARGUMENTS) {
  static struct tidings_plugin instance = WHOLE_INSTANCE(do_close);
  UNUSED_ARGUMENTS;
  instance.settle = NULL;
  *ret_plugin = &instance;
  return TIDINGS_OK;
}

EXPORT_ENTRY(open_incomplete);
