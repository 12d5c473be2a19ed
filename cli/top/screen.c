/* SPDX-License-Identifier: MIT
 */
#include "cli/top/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { ESCAPE_MS = 100, PASTE_KEY = CURSES_OWN, PASTED_KEY };
enum { PAIR_NONE, PAIR_WARNING, PAIR_ERROR };

/* -- signals ----------------------------------------------------------------------------------- */

static const int signals[] = {SIGWINCH, SIGTSTP, SIGCONT};
static volatile sig_atomic_t resized, to_stop, continued;

static void note_terminal_signal(int number) {
  if (number == SIGTSTP) to_stop = 1;
  else if (number == SIGCONT) continued = 1;
  else resized = 1;
}

/* interrupt_poll lets in what was not blocked before interrupt_begin, and so these. */
static void catch_signals(void) {
  struct sigaction action, was;
  sigset_t blocked;
  memset(&action, 0, sizeof action);
  action.sa_handler = note_terminal_signal;
  sigemptyset(&blocked);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    if (sigaction(signals[i], NULL, &was) || was.sa_handler == SIG_IGN)
      continue; /* nobody could continue it */
    sigaddset(&blocked, signals[i]);
    sigaction(signals[i], &action, NULL);
  }
  sigprocmask(SIG_BLOCK, &blocked, NULL);
}

/* Stops here, until the shell lets this process go on. */
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

/* The other verbs print UTF-8 whatever the locale is. A locale with another encoding stays as it
 * is, and the grid shows what it does not have as {U+00E9}. */
static void set_locale(void) {
  const char *name = setlocale(LC_CTYPE, "");
  if (name && strcmp(name, "C") != 0 && strcmp(name, "POSIX") != 0) return;
  if (!setlocale(LC_CTYPE, "C.UTF-8")) (void)setlocale(LC_CTYPE, "C");
}

static void set_colours(struct screen *screen) {
  const struct curses *curses = &screen->curses;
  const char *none = getenv("NO_COLOR");
  if ((none && none[0]) || !curses->has_colors()) return;
  (void)curses->start_color();
  if (curses->use_default_colors()) return;
  (void)curses->init_pair(PAIR_WARNING, CURSES_YELLOW, -1);
  (void)curses->init_pair(PAIR_ERROR, CURSES_RED, -1);
  screen->colours = true;
}

static char *find_sequence(const struct screen *screen, const char *name) {
  char *text = screen->curses.tigetstr(name);
  return text && text != (char *)-1 ? text : NULL; /* -1: it is no sequence */
}

/* If the terminal can say what was pasted, that is not taken for keys. */
static void set_paste(struct screen *screen) {
  const struct curses *curses = &screen->curses;
  const char *on = find_sequence(screen, "BE");
  const char *begins = find_sequence(screen, "PS"), *ends = find_sequence(screen, "PE");
  screen->paste_off = find_sequence(screen, "BD");
  if (!on || !begins || !ends || !screen->paste_off) {
    screen->paste_off = NULL;
    return;
  }
  (void)curses->define_key(begins, PASTE_KEY);
  (void)curses->define_key(ends, PASTED_KEY);
  (void)curses->putp(on);
  (void)fflush(stdout);
}

static void set_modes(struct screen *screen) {
  const struct curses *curses = &screen->curses;
  (void)curses->cbreak();
  (void)curses->noecho();
  (void)curses->nonl();
  (void)curses->set_escdelay(ESCAPE_MS);
  (void)curses->keypad(screen->window, true);
  (void)curses->nodelay(screen->window, true);
  set_paste(screen);
}

static void take_away(struct screen *screen) {
  if (screen->paste_off) (void)screen->curses.putp(screen->paste_off);
  (void)screen->curses.curs_set(1);
  (void)screen->curses.endwin();
  (void)fflush(stdout);
}

/* newterm does not free all of its memory when it does not. */
static bool knows_terminal(const struct curses *curses) {
  int found = 0;
  if (curses->setupterm(NULL, STDOUT_FILENO, &found)) return false;
  (void)curses->del_curterm(curses->set_curterm(NULL));
  return true;
}

const char *screen_begin(struct screen *screen) {
  *screen = (struct screen){.terminal = NULL};
  const char *wrong = curses_load(&screen->curses);
  if (wrong) return wrong;
  set_locale();
  catch_signals(); /* before newterm, which has a SIGWINCH and a SIGTSTP of its own */
  if (knows_terminal(&screen->curses))
    screen->terminal = screen->curses.newterm(NULL, stdout, stdin);
  if (!screen->terminal) return "this terminal cannot be used: TERM names none that ncurses knows";
  screen->window = screen->curses.newwin(0, 0, 0, 0);
  if (!screen->window) {
    screen_end(screen);
    return "out of memory";
  }
  set_colours(screen);
  set_modes(screen);
  return NULL;
}

void screen_end(struct screen *screen) {
  if (!screen->terminal) return;
  take_away(screen);
  if (screen->window) (void)screen->curses.delwin(screen->window);
  screen->curses.delscreen(screen->terminal);
  screen->terminal = NULL;
}

void screen_size(size_t *ret_rows, size_t *ret_columns) {
  struct winsize size = {.ws_row = 0};
  bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col;
  *ret_rows = known ? size.ws_row : 24;
  *ret_columns = known ? size.ws_col : 80;
}

static void resize(struct screen *screen) {
  size_t rows = 0, columns = 0;
  screen_size(&rows, &columns);
  (void)screen->curses.resizeterm((int)rows, (int)columns);
  (void)screen->curses.wresize(screen->window, (int)rows, (int)columns);
  (void)screen->curses.clearok(screen->window, true);
}

void screen_settle(struct screen *screen) {
  if (to_stop) {
    to_stop = 0;
    take_away(screen);
    stop_process();
    continued = 1;
  }
  if (continued) { /* whoever had the terminal meanwhile may have changed it */
    continued = 0;
    (void)screen->curses.endwin(); /* else its modes are taken for set */
    (void)screen->curses.wrefresh(screen->window);
    set_modes(screen);
    resized = 1;
  }
  if (resized) {
    resized = 0;
    resize(screen);
  }
}

/* -- drawing and keys -------------------------------------------------------------------------- */

static void set_style(struct screen *screen, enum style style) {
  static const struct {
    uint32_t attributes;
    short pair;
  } looks[] = {
      [STYLE_BOLD] = {CURSES_BOLD, PAIR_NONE},
      [STYLE_DIM] = {CURSES_DIM, PAIR_NONE},
      [STYLE_BAR] = {CURSES_REVERSE, PAIR_NONE},
      [STYLE_CHOSEN] = {CURSES_REVERSE | CURSES_BOLD, PAIR_NONE},
      [STYLE_MARKED] = {CURSES_UNDERLINE, PAIR_NONE},
      [STYLE_WARNING] = {0, PAIR_WARNING},
      [STYLE_ERROR] = {0, PAIR_ERROR},
      [STYLE_CRITICAL] = {CURSES_BOLD, PAIR_ERROR},
  };
  short pair = PAIR_NONE;
  if (screen->colours) pair = looks[style].pair;
  (void)screen->curses.wattr_set(screen->window, looks[style].attributes | (uint32_t)pair << 8,
                                 pair, NULL);
}

static void show_row(struct screen *screen, const struct grid *grid, size_t row) {
  const struct cell *cells = &grid->cells[row * grid->columns];
  int style = -1;
  (void)screen->curses.wmove(screen->window, (int)row, 0);
  for (size_t i = 0; i < grid->columns; i++) {
    if (cells[i].style != style) {
      style = cells[i].style;
      set_style(screen, (enum style)style);
    }
    if (cells[i].len) (void)screen->curses.waddnstr(screen->window, cells[i].text, cells[i].len);
  }
}

void screen_show(struct screen *screen, const struct grid *grid) {
  const struct curses *curses = &screen->curses;
  (void)curses->werase(screen->window);
  for (size_t row = 0; row < grid->rows; row++) show_row(screen, grid, row);
  (void)curses->curs_set(grid->cursor);
  if (grid->cursor)
    (void)curses->wmove(screen->window, (int)grid->cursor_row, (int)grid->cursor_column);
  (void)curses->wrefresh(screen->window);
}

bool screen_key(struct screen *screen, uint32_t *ret_key) {
  static const struct {
    wint_t code;
    uint32_t key;
  } keys[] = {
      {CURSES_DOWN, KEY_IS_DOWN},
      {CURSES_UP, KEY_IS_UP},
      {CURSES_LEFT, KEY_IS_LEFT},
      {CURSES_RIGHT, KEY_IS_RIGHT},
      {CURSES_HOME, KEY_IS_HOME},
      {CURSES_END, KEY_IS_END},
      {CURSES_PAGE_DOWN, KEY_IS_PAGE_DOWN},
      {CURSES_PAGE_UP, KEY_IS_PAGE_UP},
      {CURSES_BACKSPACE, KEY_IS_BACKSPACE},
      {CURSES_DELETE, KEY_IS_DELETE},
      {CURSES_ENTER, KEY_IS_ENTER},
      {CURSES_BACK_TAB, '\t'},
      {CURSES_F1, KEY_IS_HELP},
      {CURSES_F3, KEY_IS_SEARCH},
      {CURSES_F4, KEY_IS_SEARCH},
      {CURSES_F6, KEY_IS_SORT},
      {CURSES_F10, KEY_IS_QUIT},
      {PASTE_KEY, KEY_IS_PASTE},
      {PASTED_KEY, KEY_IS_PASTED},
  };
  wint_t code = 0;
  int kind = screen->curses.wget_wch(screen->window, &code);
  if (kind == CURSES_ERROR) return false;
  *ret_key = kind == CURSES_KEY ? (uint32_t)KEY_IS_UNKNOWN : (uint32_t)code;
  for (size_t i = 0; kind == CURSES_KEY && i < sizeof keys / sizeof *keys; i++)
    if (keys[i].code == code) *ret_key = keys[i].key;
  return true;
}
