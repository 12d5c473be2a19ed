/* SPDX-License-Identifier: MIT
 *
 * test_curses.c: what cli/top/curses.h declares of ncurses is what its header says, where that is
 * installed; and the library has it, where that is.
 */
#include <criterion/criterion.h>
#include <string.h>

#if __has_include(<curses.h>) && __has_include(<term.h>)
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <term.h>
#undef columns
/* The names of its structs. */
#define curses_screen screen
#define curses_window _win_st
#define curses_terminal term
#include "cli/top/curses.h"

#define SAME(function)                                                                             \
  _Static_assert(__builtin_types_compatible_p(__typeof__(((struct curses *)NULL)->function),       \
                                              __typeof__(&(function))),                            \
                 #function " is declared otherwise")
SAME(setupterm);
SAME(set_curterm);
SAME(del_curterm);
SAME(newterm);
SAME(delscreen);
SAME(endwin);
SAME(cbreak);
SAME(noecho);
SAME(nonl);
SAME(curs_set);
SAME(set_escdelay);
SAME(start_color);
SAME(has_colors);
SAME(use_default_colors);
SAME(init_pair);
SAME(resizeterm);
SAME(tigetstr);
SAME(putp);
SAME(define_key);
SAME(newwin);
SAME(delwin);
SAME(wresize);
SAME(keypad);
SAME(nodelay);
SAME(clearok);
SAME(werase);
SAME(wmove);
SAME(wattr_set);
SAME(waddnstr);
SAME(wrefresh);
SAME(wget_wch);

#define EQUAL(ours, theirs) _Static_assert((ours) == (int)(theirs), #theirs " is another number")
EQUAL(CURSES_OK, OK);
EQUAL(CURSES_ERROR, ERR);
EQUAL(CURSES_KEY, KEY_CODE_YES);
EQUAL(CURSES_F1, KEY_F(1));
EQUAL(CURSES_F3, KEY_F(3));
EQUAL(CURSES_F4, KEY_F(4));
EQUAL(CURSES_F6, KEY_F(6));
EQUAL(CURSES_F10, KEY_F(10));
EQUAL(CURSES_DOWN, KEY_DOWN);
EQUAL(CURSES_UP, KEY_UP);
EQUAL(CURSES_LEFT, KEY_LEFT);
EQUAL(CURSES_RIGHT, KEY_RIGHT);
EQUAL(CURSES_HOME, KEY_HOME);
EQUAL(CURSES_BACKSPACE, KEY_BACKSPACE);
EQUAL(CURSES_DELETE, KEY_DC);
EQUAL(CURSES_PAGE_DOWN, KEY_NPAGE);
EQUAL(CURSES_PAGE_UP, KEY_PPAGE);
EQUAL(CURSES_ENTER, KEY_ENTER);
EQUAL(CURSES_BACK_TAB, KEY_BTAB);
EQUAL(CURSES_END, KEY_END);
EQUAL(CURSES_REVERSE, A_REVERSE);
EQUAL(CURSES_DIM, A_DIM);
EQUAL(CURSES_BOLD, A_BOLD);
EQUAL(CURSES_UNDERLINE, A_UNDERLINE);
EQUAL(CURSES_RED, COLOR_RED);
EQUAL(CURSES_YELLOW, COLOR_YELLOW);
_Static_assert(CURSES_OWN > KEY_MAX, "a key of ours is none of theirs");
_Static_assert(A_COLOR == 0xFF00, "where the pair is among the attributes");
#else
#include "cli/top/curses.h"
#endif

Test(top_curses, every_function_is_in_the_library) {
  struct curses curses;
  const char *wrong = curses_load(&curses);
  if (wrong && strstr(wrong, "not installed")) cr_skip_test("%s", wrong);
  cr_assert_null(wrong, "%s", wrong);
}
