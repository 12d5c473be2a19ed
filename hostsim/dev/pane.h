/* SPDX-License-Identifier: MIT
 *
 * dev/pane.h: where the session is seen. On a terminal the conversation scrolls, and below it are a
 * line that says how the build is and a line for what is typed; else it is lines of text.
 */
#ifndef HOSTSIM_DEV_PANE_H
#define HOSTSIM_DEV_PANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

enum pane_style { PANE_PLAIN, PANE_NOTE, PANE_GOOD, PANE_WRONG };

struct pane {
  bool screen; /* it is a terminal */
  bool color, ended;
  struct termios was;
  unsigned rows, columns;
  enum pane_style style;
  char status[512];
  char line[4096]; /* what has been typed */
  size_t len;
  int escape; /* where in a sequence of a key that means nothing here */
};

void pane_begin(struct pane *pane);
void pane_end(struct pane *pane);
/* If the terminal has another size now. */
void pane_settle(struct pane *pane);

/* Lines of the conversation, whose control characters are made visible. */
void pane_lines(struct pane *pane, enum pane_style style, const char *bytes, size_t len);
void pane_say(struct pane *pane, enum pane_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* How it is now; without a terminal it is not shown. */
void pane_status(struct pane *pane, enum pane_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads what was typed; call it when stdin is readable, and then pane_line until it returns NULL.
 * A line that is too long comes in pieces. `ended` is set at the end of input. */
void pane_read(struct pane *pane);
/* The next whole line; it stays until the next call. */
const char *pane_line(struct pane *pane);

#endif
