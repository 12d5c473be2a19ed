/* SPDX-License-Identifier: MIT
 *
 * top/curses.h: the functions of ncurses that `tidings top` calls, loaded when it begins. The
 * program is not linked with ncurses: a hook, which is this program too, does not wait for a
 * library that it does not need, and packages do not have to bring one. These declarations are the
 * library's ABI, version 6, which has not changed since 2015; a test compares it with the header
 * where that is installed.
 */
#ifndef TIDINGS_CLI_TOP_CURSES_H
#define TIDINGS_CLI_TOP_CURSES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

struct curses_screen;   /* SCREEN */
struct curses_window;   /* WINDOW */
struct curses_terminal; /* TERMINAL */

/* Each has the name of the function. */
struct curses {
  int (*setupterm)(const char *type, int fd, int *ret_known);
  struct curses_terminal *(*set_curterm)(struct curses_terminal *terminal);
  int (*del_curterm)(struct curses_terminal *terminal);
  struct curses_screen *(*newterm)(const char *type, FILE *out, FILE *in);
  void (*delscreen)(struct curses_screen *screen);
  int (*endwin)(void);
  int (*cbreak)(void);
  int (*noecho)(void);
  int (*nonl)(void);
  int (*curs_set)(int visibility);
  int (*set_escdelay)(int ms);
  int (*start_color)(void);
  bool (*has_colors)(void);
  int (*use_default_colors)(void);
  int (*init_pair)(short pair, short foreground, short background);
  int (*resizeterm)(int rows, int columns);
  char *(*tigetstr)(const char *name);
  int (*putp)(const char *text);
  int (*define_key)(const char *text, int code);
  struct curses_window *(*newwin)(int rows, int columns, int row, int column);
  int (*delwin)(struct curses_window *window);
  int (*wresize)(struct curses_window *window, int rows, int columns);
  int (*keypad)(struct curses_window *window, bool on);
  int (*nodelay)(struct curses_window *window, bool on);
  int (*clearok)(struct curses_window *window, bool on);
  int (*werase)(struct curses_window *window);
  int (*wmove)(struct curses_window *window, int row, int column);
  int (*wattr_set)(struct curses_window *window, uint32_t attributes, short pair, void *options);
  int (*waddnstr)(struct curses_window *window, const char *text, int len);
  int (*wrefresh)(struct curses_window *window);
  int (*wget_wch)(struct curses_window *window, wint_t *character);
};

enum { CURSES_OK = 0, CURSES_ERROR = -1, CURSES_KEY = 0400 };
/* The codes of wget_wch with CURSES_KEY. */
enum curses_key {
  CURSES_DOWN = 0402,
  CURSES_UP = 0403,
  CURSES_LEFT = 0404,
  CURSES_RIGHT = 0405,
  CURSES_HOME = 0406,
  CURSES_BACKSPACE = 0407,
  CURSES_F1 = 0411,
  CURSES_F3 = 0413,
  CURSES_F4 = 0414,
  CURSES_F6 = 0416,
  CURSES_F10 = 0422,
  CURSES_DELETE = 0512,
  CURSES_PAGE_DOWN = 0522,
  CURSES_PAGE_UP = 0523,
  CURSES_ENTER = 0527,
  CURSES_BACK_TAB = 0541,
  CURSES_END = 0550,
  CURSES_OWN = 01000 /* from here on keys that the program defines */
};
enum { CURSES_REVERSE = 1 << 18, CURSES_DIM = 1 << 20, CURSES_BOLD = 1 << 21 };
enum { CURSES_UNDERLINE = 1 << 17 };
enum { CURSES_RED = 1, CURSES_YELLOW = 3 };

/* Loads the library, once; it stays. Returns NULL, or what is wrong. */
const char *curses_load(struct curses *ret_curses);

#endif
