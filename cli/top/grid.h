/* SPDX-License-Identifier: MIT
 *
 * top/grid.h: a screen as a grid of cells, drawn in memory. It is pure, but the locale defines
 * which characters there are and how wide they are. A character that the locale lacks is shown by
 * its number, such as {U+00E9}.
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
  STYLE_CHOSEN, /* the chosen row of the pane that has the keys */
  STYLE_MARKED, /* the chosen row of the other pane */
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
  bool cursor; /* the cursor is visible */
};

/* Makes a blank grid. Returns 0, or -1: no memory. */
int grid_make(size_t rows, size_t columns, struct grid *ret_grid);
void grid_free(struct grid *grid);

/* Puts text from `column` up to `end`, cut with an ellipsis if it is longer. Text may be hostile:
 * characters that a terminal obeys or hides are shown as {U+001B}, a line break as a mark, a tab as
 * a blank. Returns the column after it. Outside of the grid nothing happens. */
size_t grid_put(struct grid *grid, size_t row, size_t column, size_t end, enum style style,
                struct tidings_span text);
size_t grid_text(struct grid *grid, size_t row, size_t column, size_t end, enum style style,
                 const char *text);
/* The same, but aligned with `end`; shows as much of the text's beginning as fits. */
void grid_right(struct grid *grid, size_t row, size_t column, size_t end, enum style style,
                const char *text);
/* Gives the cells another style. */
void grid_paint(struct grid *grid, size_t row, size_t column, size_t end, enum style style);
/* Draws a line of dashes. */
void grid_rule(struct grid *grid, size_t row, size_t column, size_t end);

/* Returns how many columns the text needs. */
size_t grid_columns(struct tidings_span text);
/* Returns how many bytes of the text fit into `columns`, without splitting a character. */
size_t grid_fit(struct tidings_span text, size_t columns);
/* Returns the end of the first line, which is at most `columns` wide if one character fits: it ends
 * at a line break, else at a blank, else between two characters. *ret_next: the start of the next
 * line. */
size_t grid_line(struct tidings_span text, size_t columns, size_t *ret_next);

#endif
