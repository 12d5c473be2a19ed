/* SPDX-License-Identifier: MIT
 *
 * session_path.c FOLDER PATH…: how the command names files to a session, one a line, to be compared
 * with how the shims do.
 */
#include "command/session_path.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  for (int i = 2; i < argc; i++) {
    char *named = session_path(argv[1], argv[i]);
    if (!named) return 1;
    puts(named);
    free(named);
  }
  return 0;
}
