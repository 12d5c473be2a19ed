/* SPDX-License-Identifier: MIT
 */
#include "cli/top/screen.h"

#include "cli/top/terminal.h"

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { ESCAPE_MS = 100, PASTE_KEY = KEY_MAX + 1, PASTED_KEY };
enum { PAIR_NONE, PAIR_WARNING, PAIR_ERROR };

/* -- signals ----------------------------------------------------------------------------------- */

static const int signals[] = {SIGWINCH, SIGTSTP, SIGCONT};
static volatile sig_atomic_t resized, to_stop, continued;

static void note_terminal_signal(int number) {
  if (number == SIGTSTP) to_stop = 1;
  else if (number == SIGCONT) continued = 1;
  else resized = 1;
}

/* Catches signals. interrupt_poll lets them through, because they were not blocked before
 * interrupt_begin. */
static void catch_signals(void) {
  struct sigaction action, was;
  sigset_t blocked;
  memset(&action, 0, sizeof action);
  action.sa_handler = note_terminal_signal;
  sigemptyset(&blocked);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    if (sigaction(signals[i], NULL, &was) || was.sa_handler == SIG_IGN)
      continue; /* no shell would continue this process */
    sigaddset(&blocked, signals[i]);
    sigaction(signals[i], &action, NULL);
  }
  sigprocmask(SIG_BLOCK, &blocked, NULL);
}

/* Stops this process until the shell continues it. */
static void stop_process(void) {
  struct sigaction action, was;
  sigset_t stop;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  sigaction(SIGTSTP, &action, &was);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, NULL);
  sigprocmask(SIG_BLOCK, &stop, NULL);
  sigaction(SIGTSTP, &was, NULL);
}

/* -- the terminal ------------------------------------------------------------------------------ */

/* Sets the locale, to UTF-8 if none is set. A locale with another encoding stays, and the grid
 * shows characters that it lacks as {U+00E9}. */
static void set_locale(void) {
  const char *name = setlocale(LC_CTYPE, "");
  if (name && strcmp(name, "C") != 0 && strcmp(name, "POSIX") != 0) return;
  if (!setlocale(LC_CTYPE, "C.UTF-8")) (void)setlocale(LC_CTYPE, "C");
}

static void set_colours(struct top_screen *screen) {
  const char *none = getenv("NO_COLOR");
  if ((none && none[0]) || !has_colors()) return;
  (void)start_color();
  if (use_default_colors()) return;
  (void)init_pair(PAIR_WARNING, COLOR_YELLOW, -1);
  (void)init_pair(PAIR_ERROR, COLOR_RED, -1);
  screen->colours = true;
}

static char *find_sequence(const char *name) {
  char *text = tigetstr(name);
  return text && text != (char *)-1 ? text : NULL; /* -1: it is not a string */
}

/* Makes the terminal mark pasted text, if it can, so that the text is not taken for keys. */
static void set_paste(struct top_screen *screen) {
  const char *on = find_sequence("BE");
  const char *begins = find_sequence("PS"), *ends = find_sequence("PE");
  screen->paste_off = find_sequence("BD");
  if (!on || !begins || !ends || !screen->paste_off) {
    screen->paste_off = NULL;
    return;
  }
  (void)define_key(begins, PASTE_KEY);
  (void)define_key(ends, PASTED_KEY);
  (void)putp(on);
  (void)fflush(stdout);
}

static void set_modes(struct top_screen *screen) {
  (void)cbreak();
  (void)noecho();
  (void)nonl();
  (void)set_escdelay(ESCAPE_MS);
  (void)keypad(screen->window, true);
  (void)nodelay(screen->window, true);
  set_paste(screen);
}

static void take_away(struct top_screen *screen) {
  if (screen->paste_off) (void)putp(screen->paste_off);
  (void)curs_set(1);
  (void)endwin();
  (void)fflush(stdout);
}

const char *screen_begin(struct top_screen *screen) {
  *screen = (struct top_screen){.terminal = NULL};
  set_locale();
  catch_signals(); /* before newterm, which would set its own handlers for SIGWINCH and SIGTSTP */
  /* If newterm fails, it leaks some memory. */
  if (terminal_is_known()) screen->terminal = newterm(NULL, stdout, stdin);
  if (!screen->terminal) return "this terminal cannot be used: TERM names none that ncurses knows";
  screen->window = newwin(0, 0, 0, 0);
  if (!screen->window) {
    screen_end(screen);
    return "out of memory";
  }
  set_colours(screen);
  set_modes(screen);
  return NULL;
}

void screen_end(struct top_screen *screen) {
  if (!screen->terminal) return;
  take_away(screen);
  if (screen->window) (void)delwin(screen->window);
  delscreen(screen->terminal);
  screen->terminal = NULL;
}

void screen_size(size_t *ret_rows, size_t *ret_columns) {
  struct winsize size = {.ws_row = 0};
  bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col;
  *ret_rows = known ? size.ws_row : 24;
  *ret_columns = known ? size.ws_col : 80;
}

static void resize(struct top_screen *screen) {
  size_t rows = 0, columns = 0;
  screen_size(&rows, &columns);
  (void)resizeterm((int)rows, (int)columns);
  (void)wresize(screen->window, (int)rows, (int)columns);
  (void)clearok(screen->window, true);
}

void screen_settle(struct top_screen *screen) {
  if (to_stop) {
    to_stop = 0;
    take_away(screen);
    stop_process();
    continued = 1;
  }
  if (continued) { /* another program may have changed the terminal */
    continued = 0;
    (void)endwin(); /* otherwise ncurses would assume that its modes are still set */
    (void)wrefresh(screen->window);
    set_modes(screen);
    resized = 1;
  }
  if (resized) {
    resized = 0;
    resize(screen);
  }
}

/* -- drawing and keys -------------------------------------------------------------------------- */

static void set_style(struct top_screen *screen, enum style style) {
  static const struct {
    attr_t attributes;
    short pair;
  } looks[] = {
      [STYLE_BOLD] = {A_BOLD, PAIR_NONE},        [STYLE_DIM] = {A_DIM, PAIR_NONE},
      [STYLE_BAR] = {A_REVERSE, PAIR_NONE},      [STYLE_CHOSEN] = {A_REVERSE | A_BOLD, PAIR_NONE},
      [STYLE_MARKED] = {A_UNDERLINE, PAIR_NONE}, [STYLE_WARNING] = {0, PAIR_WARNING},
      [STYLE_ERROR] = {0, PAIR_ERROR},           [STYLE_CRITICAL] = {A_BOLD, PAIR_ERROR},
  };
  short pair = PAIR_NONE;
  if (screen->colours) pair = looks[style].pair;
  (void)wattr_set(screen->window, looks[style].attributes, pair, NULL);
}

static void show_row(struct top_screen *screen, const struct grid *grid, size_t row) {
  const struct cell *cells = &grid->cells[row * grid->columns];
  int style = -1;
  (void)wmove(screen->window, (int)row, 0);
  for (size_t i = 0; i < grid->columns; i++) {
    if (cells[i].style != style) {
      style = cells[i].style;
      set_style(screen, (enum style)style);
    }
    if (cells[i].len) (void)waddnstr(screen->window, cells[i].text, cells[i].len);
  }
}

void screen_show(struct top_screen *screen, const struct grid *grid) {
  (void)werase(screen->window);
  for (size_t row = 0; row < grid->rows; row++) show_row(screen, grid, row);
  (void)curs_set(grid->cursor);
  if (grid->cursor) (void)wmove(screen->window, (int)grid->cursor_row, (int)grid->cursor_column);
  (void)wrefresh(screen->window);
}

bool screen_key(struct top_screen *screen, uint32_t *ret_key) {
  static const struct {
    wint_t code;
    uint32_t key;
  } keys[] = {
      {KEY_DOWN, KEY_IS_DOWN},       {KEY_UP, KEY_IS_UP},         {KEY_LEFT, KEY_IS_LEFT},
      {KEY_RIGHT, KEY_IS_RIGHT},     {KEY_HOME, KEY_IS_HOME},     {KEY_END, KEY_IS_END},
      {KEY_NPAGE, KEY_IS_PAGE_DOWN}, {KEY_PPAGE, KEY_IS_PAGE_UP}, {KEY_BACKSPACE, KEY_IS_BACKSPACE},
      {KEY_DC, KEY_IS_DELETE},       {KEY_ENTER, KEY_IS_ENTER},   {KEY_BTAB, '\t'},
      {KEY_F(1), KEY_IS_HELP},       {KEY_F(3), KEY_IS_SEARCH},   {KEY_F(4), KEY_IS_SEARCH},
      {KEY_F(6), KEY_IS_SORT},       {KEY_F(10), KEY_IS_QUIT},    {PASTE_KEY, KEY_IS_PASTE},
      {PASTED_KEY, KEY_IS_PASTED},
  };
  wint_t code = 0;
  int kind = wget_wch(screen->window, &code);
  if (kind == ERR) return false;
  *ret_key = kind == KEY_CODE_YES ? (uint32_t)KEY_IS_UNKNOWN : (uint32_t)code;
  for (size_t i = 0; kind == KEY_CODE_YES && i < sizeof keys / sizeof *keys; i++)
    if (keys[i].code == code) *ret_key = keys[i].key;
  return true;
}
