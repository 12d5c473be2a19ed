/* SPDX-License-Identifier: MIT
 *
 * dev/pane.h: shows the session. On a terminal the conversation scrolls; below it are a line with
 * the state of the build and a line for input. Without a terminal it prints lines of text.
 */
#ifndef HOSTSIM_DEV_PANE_H
#define HOSTSIM_DEV_PANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

enum pane_style { PANE_PLAIN, PANE_NOTE, PANE_GOOD, PANE_WRONG };

struct pane {
  bool screen; /* stdout is a terminal */
  bool color, ended;
  struct termios was;
  unsigned rows, columns;
  enum pane_style style;
  char status[512];
  char line[4096]; /* what has been typed */
  size_t len;
  int escape; /* how far a key's escape sequence was read */
};

void pane_begin(struct pane *pane);
void pane_end(struct pane *pane);
/* Call it when the size of the terminal may have changed. */
void pane_settle(struct pane *pane);

/* Prints lines of the conversation, and makes control characters visible. */
void pane_lines(struct pane *pane, enum pane_style style, const char *bytes, size_t len);
void pane_say(struct pane *pane, enum pane_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets the status line, which is shown only on a terminal. */
void pane_status(struct pane *pane, enum pane_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads input. Call it when stdin is readable, and then call pane_line until that returns NULL. A
 * line that is too long comes in pieces. Sets `ended` at the end of the input. */
void pane_read(struct pane *pane);
/* Returns the next whole line, which stays valid until the next call. */
const char *pane_line(struct pane *pane);

#endif
