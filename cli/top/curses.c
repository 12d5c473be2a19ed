/* SPDX-License-Identifier: MIT
 */
#include "cli/top/curses.h"

#include <dlfcn.h>
#include <string.h>

/* In the order of the struct, whose members are pointers to functions and nothing else. */
static const char *const names[] = {
    "setupterm",    "set_curterm",
    "del_curterm",  "newterm",
    "delscreen",    "endwin",
    "cbreak",       "noecho",
    "nonl",         "curs_set",
    "set_escdelay", "start_color",
    "has_colors",   "use_default_colors",
    "init_pair",    "resizeterm",
    "tigetstr",     "putp",
    "define_key",   "newwin",
    "delwin",       "wresize",
    "keypad",       "nodelay",
    "clearok",

    "werase",       "wmove",
    "wattr_set",    "waddnstr",
    "wrefresh",     "wget_wch",
};
enum { NAMES = sizeof names / sizeof *names };
_Static_assert(sizeof(struct curses) == NAMES * sizeof(void *), "a name for each function");

const char *curses_load(struct curses *ret_curses) {
  void *functions[NAMES], *library = dlopen("libncursesw.so.6", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return "it needs the library ncurses (libncursesw.so.6), which is not installed: Debian and "
           "Ubuntu have it in libncursesw6, Alpine and Fedora in ncurses-libs, Arch in ncurses";
  for (size_t i = 0; i < NAMES; i++) {
    functions[i] = dlsym(library, names[i]);
    if (!functions[i]) return "the library ncurses (libncursesw.so.6) lacks a function";
  }
  memcpy(ret_curses, functions, sizeof functions);
  return NULL;
}
