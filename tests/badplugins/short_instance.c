/* SPDX-License-Identifier: MIT
 *
 * short_instance.c: its instance struct ends before close.
 */
#include "bad.h"

static int32_t open_short(OPEN_ARGUMENTS) {
  static struct tidings_plugin instance = WHOLE_INSTANCE(NULL);
  UNUSED_ARGUMENTS;
  instance.size = offsetof(struct tidings_plugin, close);
  *ret_plugin = &instance;
  return TIDINGS_OK;
}

EXPORT_ENTRY(open_short);
