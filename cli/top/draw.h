/* SPDX-License-Identifier: MIT
 *
 * top/draw.h: the view as a screen. Pure.
 */
#ifndef TIDINGS_CLI_TOP_DRAW_H
#define TIDINGS_CLI_TOP_DRAW_H

#include "cli/top/grid.h"
#include "cli/top/model.h"

/* Everything that fits a screen of 80 x 24 fits; below these a sentence says so. */
enum { TOP_LEAST_ROWS = 10, TOP_LEAST_COLUMNS = 56 };

/* Draws on a blank grid; `store` is what the first line names. Notes in `top` what was shown.
 * Returns when an age on it will be another one; 0: none will. */
int64_t top_draw(struct top *top, int64_t now_ms, const char *store, struct grid *grid);

#endif
