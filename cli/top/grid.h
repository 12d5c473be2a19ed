/* SPDX-License-Identifier: MIT
 *
 * top/grid.h: a screen as a grid of cells, drawn in memory. Pure, except for the locale, which says
 * which characters exist and how wide they are: a character that it does not know is shown as
 * {U+00E9}.
 */
#ifndef TIDINGS_CLI_TOP_GRID_H
#define TIDINGS_CLI_TOP_GRID_H

#include <stdint.h>

#include "common/span.h"

enum style {
  STYLE_PLAIN,
  STYLE_BOLD,
  STYLE_DIM,
  STYLE_BAR,    /* the first line */
  STYLE_CHOSEN, /* what the keys act on .. */
  STYLE_MARKED, /* .. and what they will act on after a Tab */
  STYLE_WARNING,
  STYLE_ERROR,
  STYLE_CRITICAL
};

/* A character and the accents on it. The second cell of a wide one has width 0 and no text. */
struct cell {
  char text[20];
  uint8_t len, width, style;
};

struct grid {
  size_t rows, columns;
  struct cell *cells; /* by rows */
  size_t cursor_row, cursor_column;
  bool cursor; /* it is shown */
};

/* Blank. Returns 0, or -1: no memory. */
int grid_make(size_t rows, size_t columns, struct grid *ret_grid);
void grid_free(struct grid *grid);

/* Puts text from `column` up to `end`, cut with an ellipsis if it is longer. Text is hostile: what
 * a terminal obeys or hides is shown as {U+001B}; a line break as a mark, a tab as a blank. Returns
 * the column after it. Outside of the grid nothing happens. */
size_t grid_put(struct grid *grid, size_t row, size_t column, size_t end, enum style style,
                struct tidings_span text);
size_t grid_text(struct grid *grid, size_t row, size_t column, size_t end, enum style style,
                 const char *text);
/* The same, but aligned with `end`; shows as much of the text's beginning as fits. */
void grid_right(struct grid *grid, size_t row, size_t column, size_t end, enum style style,
                const char *text);
/* Gives the cells another style. */
void grid_paint(struct grid *grid, size_t row, size_t column, size_t end, enum style style);
/* A line of dashes. */
void grid_rule(struct grid *grid, size_t row, size_t column, size_t end);

/* How many columns the text takes. */
size_t grid_columns(struct tidings_span text);
/* How many bytes of the text fit into `columns`, and no character is split. */
size_t grid_fit(struct tidings_span text, size_t columns);
/* The end of a line of the text that is at most `columns` wide: after a blank if there is one, at a
 * line break. *ret_next: where the next one begins. */
size_t grid_line(struct tidings_span text, size_t columns, size_t *ret_next);

#endif
