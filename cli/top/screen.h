/* SPDX-License-Identifier: MIT
 *
 * top/screen.h: the terminal: its size, its keys, and a grid on it. Afterwards it is as it was
 * before.
 */
#ifndef TIDINGS_CLI_TOP_SCREEN_H
#define TIDINGS_CLI_TOP_SCREEN_H

#include <stdbool.h>

#include "cli/top/grid.h"
#include "cli/top/key.h"

struct top_screen {
  void *terminal; /* SCREEN of ncurses; NULL: it is not taken */
  void *window;   /* WINDOW of ncurses: all of it */
  bool colours;
  char *paste_off; /* what ends the bracketing of what is pasted; NULL: the terminal has none */
};

/* Takes the terminal of stdin and stdout; from here on SIGWINCH, SIGTSTP and SIGCONT are noted at
 * poll only. After interrupt_begin. Returns NULL, or what is wrong. */
const char *screen_begin(struct top_screen *screen);
/* Gives it back. Harmless if it was not taken. */
void screen_end(struct top_screen *screen);

/* Does what those signals ask for: stops this process with the terminal given back, takes it again
 * when it goes on, learns the size. To be called after each poll. */
void screen_settle(struct top_screen *screen);

void screen_size(size_t *ret_rows, size_t *ret_columns);
void screen_show(struct top_screen *screen, const struct grid *grid);
/* The next key that has been pressed. False: none has. */
bool screen_key(struct top_screen *screen, uint32_t *ret_key);

#endif
