/* SPDX-License-Identifier: MIT
 *
 * command/verbs.c: see the header.
 */
#include "command/verbs.h"

#include <string.h>

const struct cli_verb *cli_find_verb(const char *name) {
  for (size_t i = 0; i < cli_verb_count; i++) {
    if (strcmp(cli_verbs[i]->name, name) == 0) return cli_verbs[i];
  }
  return NULL;
}
