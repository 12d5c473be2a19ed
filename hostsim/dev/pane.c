/* SPDX-License-Identifier: MIT
 *
 * dev/pane.c: all rows of the terminal but the last two scroll, and the cursor stays in the last
 * row. Lines that leave the screen at the top go into the terminal's history, as usual.
 */
#include "dev/pane.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command/terminal.h"

enum {
  FEWEST_ROWS = 4,
  KEY_ESCAPE = 27,
  KEY_DELETE = 127,
  KEY_BACK = 8,
  KEY_KILL = 21,
  KEY_END = 4
};

static volatile sig_atomic_t resized;

static void note_resize(int number) {
  (void)number;
  resized = 1;
}

/* -- the two lines at the bottom --------------------------------------------------------------- */

static const char *style_code(const struct pane *pane, enum pane_style style) {
  static const char *const codes[] = {"", "\033[2m", "\033[32m", "\033[31m"};
  return pane->color ? codes[style] : "";
}

static const char *style_end(const struct pane *pane) { return pane->color ? "\033[0m" : ""; }

/* Returns how many bytes at the end of the text fit into so many columns, if each character takes
 * one. */
static size_t last_that_fit(const char *text, size_t len, size_t columns) {
  size_t bytes = 0;
  while (bytes < len && columns > 0) {
    bytes++;
    if (((unsigned char)text[len - bytes] & 0xc0) != 0x80) columns--;
  }
  while (bytes && ((unsigned char)text[len - bytes] & 0xc0) == 0x80) bytes--;
  return bytes;
}

static void draw_bottom(struct pane *pane) {
  size_t len = strlen(pane->status), columns = pane->columns - 1;
  size_t shown = last_that_fit(pane->line, pane->len, columns - 2);
  printf("\033[%u;1H\033[K%s\033[7m%.*s\033[0m", pane->rows - 1, style_code(pane, pane->style),
         (int)(len < columns ? len : columns), pane->status);
  printf("\033[%u;1H\033[K> ", pane->rows);
  terminal_bytes(stdout, pane->line + pane->len - shown, shown);
  fflush(stdout);
}

static void set_region(struct pane *pane) {
  struct winsize size = {.ws_row = 0};
  bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row >= FEWEST_ROWS;
  pane->rows = known ? size.ws_row : 24;
  pane->columns = known && size.ws_col > 8 ? size.ws_col : 80;
  printf("\033[1;%ur", pane->rows - 2);
  draw_bottom(pane);
}

void pane_begin(struct pane *pane) {
  const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
  *pane = (struct pane){.len = 0};
  pane->screen = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && terminal && terminal[0] &&
                 strcmp(terminal, "dumb") != 0 && !tcgetattr(STDIN_FILENO, &pane->was);
  if (!pane->screen) return;
  struct termios now = pane->was;
  struct sigaction action = {.sa_handler = note_resize};
  now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  (void)tcsetattr(STDIN_FILENO, TCSANOW, &now);
  sigaction(SIGWINCH, &action, NULL);
  pane->color = !none || !none[0];
  fputs("\n\n", stdout); /* room for the two rows, below the shell's output */
  set_region(pane);
}

void pane_end(struct pane *pane) {
  if (!pane->screen) return;
  printf("\033[r\033[%u;1H\033[K\033[%u;1H\033[K\033[%u;1H", pane->rows, pane->rows - 1,
         pane->rows - 1);
  fflush(stdout);
  (void)tcsetattr(STDIN_FILENO, TCSANOW, &pane->was);
  pane->screen = false;
}

void pane_settle(struct pane *pane) {
  if (!resized || !pane->screen) return;
  resized = 0;
  set_region(pane);
}

/* -- what is shown ----------------------------------------------------------------------------- */

void pane_lines(struct pane *pane, enum pane_style style, const char *bytes, size_t len) {
  while (len && bytes[len - 1] == '\n') len--;
  if (pane->screen) printf("\033[%u;1H\n", pane->rows - 2);
  fputs(style_code(pane, style), stdout);
  if (pane->screen) terminal_byte_lines(stdout, bytes, len, 0);
  else printf("%.*s", (int)len, bytes);
  fputs(style_end(pane), stdout);
  if (pane->screen) draw_bottom(pane);
  else putchar('\n');
  fflush(stdout);
}

void pane_say(struct pane *pane, enum pane_style style, const char *format, ...) {
  char text[1024];
  va_list values;
  va_start(values, format);
  (void)vsnprintf(text, sizeof text, format, values);
  va_end(values);
  pane_lines(pane, style, text, strlen(text));
}

void pane_status(struct pane *pane, enum pane_style style, const char *format, ...) {
  va_list values;
  va_start(values, format);
  (void)vsnprintf(pane->status, sizeof pane->status, format, values);
  va_end(values);
  pane->style = style;
  if (pane->screen) draw_bottom(pane);
}

/* -- what is typed ----------------------------------------------------------------------------- */

/* Is the byte part of the sequence of a key such as an arrow: ESC [ and more, up to a letter or
 * ~? */
static bool is_in_escape(struct pane *pane, char byte) {
  if (byte == KEY_ESCAPE) pane->escape = 1;
  else if (pane->escape == 1) pane->escape = byte == '[' || byte == 'O' ? 2 : 0;
  else if (pane->escape == 2 && byte >= '@') pane->escape = 0;
  else return pane->escape != 0;
  return true;
}

static void erase_last(struct pane *pane) {
  while (pane->len && ((unsigned char)pane->line[pane->len - 1] & 0xc0) == 0x80) pane->len--;
  if (pane->len) pane->len--;
}

static void take_key(struct pane *pane, char byte) {
  if (is_in_escape(pane, byte)) return;
  if (byte == KEY_DELETE || byte == KEY_BACK) erase_last(pane);
  else if (byte == KEY_KILL) pane->len = 0;
  else if (byte == KEY_END) pane->ended |= pane->len == 0;
  else if (((unsigned char)byte >= ' ' || byte == '\n') && pane->len < sizeof pane->line - 1)
    pane->line[pane->len++] = byte;
}

void pane_read(struct pane *pane) {
  char bytes[1024];
  size_t room = sizeof pane->line - 1 - pane->len;
  ssize_t got = read(STDIN_FILENO, bytes, room < sizeof bytes ? room : sizeof bytes);
  if (got < 0) pane->ended = errno != EINTR && errno != EAGAIN;
  if (got == 0) pane->ended = true;
  for (ssize_t i = 0; i < got; i++) {
    if (pane->screen) take_key(pane, bytes[i]);
    else pane->line[pane->len++] = bytes[i];
  }
  if (pane->screen) draw_bottom(pane);
}

const char *pane_line(struct pane *pane) {
  static char line[sizeof pane->line];
  char *end = memchr(pane->line, '\n', pane->len);
  bool rest = !end && pane->len && (pane->ended || pane->len == sizeof pane->line - 1);
  if (!end && !rest) return NULL;
  size_t len = end ? (size_t)(end - pane->line) : pane->len;
  memcpy(line, pane->line, len);
  line[len] = '\0';
  pane->len -= len + (end != NULL);
  memmove(pane->line, pane->line + len + (end != NULL), pane->len);
  if (pane->screen) draw_bottom(pane);
  return line;
}
