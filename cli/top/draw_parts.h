/* SPDX-License-Identifier: MIT
 *
 * top/draw_parts.h: draws the parts of the view, each in its rows, for draw.c.
 */
#ifndef TIDINGS_CLI_TOP_DRAW_PARTS_H
#define TIDINGS_CLI_TOP_DRAW_PARTS_H

#include "cli/top/grid.h"
#include "cli/top/model.h"

/* `count` rows of the grid, from `first` on. */
struct rows {
  size_t first, count;
};

struct drawing {
  struct top *top;
  struct grid *grid;
  int64_t now_ms, until_ms; /* until_ms: when the first of the ages changes; 0: never */
};

void draw_sessions(struct drawing *drawing, struct rows rows); /* with their titles */
void draw_items(struct drawing *drawing, struct rows rows);    /* the lower list */
void draw_text(struct drawing *drawing, struct rows rows);     /* MODE_EXPLAIN and MODE_HELP */
void draw_foot(struct drawing *drawing,
               struct rows rows); /* two rows: the question, and the keys */

/* How many lines the lower list has. */
size_t draw_item_lines(const struct top *top);

/* Draws an age in the 4 columns before `end`. */
void draw_age(struct drawing *drawing, size_t row, size_t end, int64_t time_ms);
enum style draw_level_style(const char *level);

#endif
