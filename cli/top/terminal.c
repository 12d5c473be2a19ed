/* SPDX-License-Identifier: MIT
 */
#include "cli/top/terminal.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

bool terminal_is_known(void) {
  int found = 0;
  if (setupterm(NULL, STDOUT_FILENO, &found)) return false;
  (void)del_curterm(set_curterm(NULL));
  return true;
}
