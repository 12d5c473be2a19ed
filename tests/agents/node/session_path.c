/* SPDX-License-Identifier: MIT
 *
 * session_path.c FOLDER PATH… prints, one a line, the names by which the command knows files;
 * session_path.c --stamp PATH… prints their stamps. Both are compared with those of the shims.
 */
#include "command/session_path.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/stamp.h"

int main(int argc, char **argv) {
  bool stamps = argc > 1 && strcmp(argv[1], "--stamp") == 0;
  for (int i = 2; stamps && i < argc; i++) puts(stamp_of_file(argv[i]).text);
  for (int i = 2; !stamps && i < argc; i++) {
    char *named = session_path(argv[1], argv[i]);
    if (!named) return 1;
    puts(named);
    free(named);
  }
  return 0;
}
