/* SPDX-License-Identifier: MIT
 *
 * top/draw.h: draws the view on a screen. Pure.
 */
#ifndef TIDINGS_CLI_TOP_DRAW_H
#define TIDINGS_CLI_TOP_DRAW_H

#include "cli/top/grid.h"
#include "cli/top/model.h"

/* On a smaller screen only a sentence is drawn, which says so. */
enum { TOP_LEAST_ROWS = 10, TOP_LEAST_COLUMNS = 56 };

/* Draws on a blank grid; the first line names `store`. Notes in `top` how many lines were drawn.
 * Returns when the first age on the screen changes; 0: never. */
int64_t top_draw(struct top *top, int64_t now_ms, const char *store, struct grid *grid);

#endif
