/* SPDX-License-Identifier: MIT
 *
 * open_fails.c: its open fails with a sentence.
 */
#include "bad.h"

static int32_t open_failing(OPEN_ARGUMENTS) {
  UNUSED_ARGUMENTS;
  error->code = TIDINGS_E_SCHEMA_NEWER;
  (void)snprintf(error->text, sizeof error->text,
                 "the moon is in the wrong house; wait a fortnight");
  return TIDINGS_E_SCHEMA_NEWER;
}

EXPORT_ENTRY(open_failing);
