/* SPDX-License-Identifier: MIT
 *
 * top/screen.h: the terminal: its size, its keys, and a grid on it. At the end its former state is
 * restored.
 */
#ifndef TIDINGS_CLI_TOP_SCREEN_H
#define TIDINGS_CLI_TOP_SCREEN_H

#include <stdbool.h>

#include "cli/top/grid.h"
#include "cli/top/key.h"

struct top_screen {
  void *terminal; /* ncurses's SCREEN; NULL: the terminal is not taken */
  void *window;   /* ncurses's WINDOW, which is the whole terminal */
  bool colours;
  char *paste_off; /* the sequence that ends bracketed paste; NULL: the terminal has none */
};

/* Takes the terminal of stdin and stdout; call interrupt_begin first. From then on SIGWINCH,
 * SIGTSTP and SIGCONT are noted only at poll. Returns NULL, or an error in words. */
const char *screen_begin(struct top_screen *screen);
/* Gives the terminal back; harmless if it was not taken. */
void screen_end(struct top_screen *screen);

/* Call it after each poll, to handle those signals: it gives the terminal back and stops this
 * process, takes the terminal again when the process continues, and reads the new size. */
void screen_settle(struct top_screen *screen);

void screen_size(size_t *ret_rows, size_t *ret_columns);
void screen_show(struct top_screen *screen, const struct grid *grid);
/* Returns the next pressed key in *ret_key. False: there is none. */
bool screen_key(struct top_screen *screen, uint32_t *ret_key);

#endif
