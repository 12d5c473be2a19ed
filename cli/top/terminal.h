/* SPDX-License-Identifier: MIT
 *
 * top/terminal.h: the only function that needs term.h, which makes macros of words such as
 * `columns` and `lines`.
 */
#ifndef TIDINGS_CLI_TOP_TERMINAL_H
#define TIDINGS_CLI_TOP_TERMINAL_H

#include <stdbool.h>

/* Returns whether ncurses knows the terminal of TERM. */
bool terminal_is_known(void);

#endif
