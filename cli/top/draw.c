/* SPDX-License-Identifier: MIT
 */
#include "cli/top/draw.h"

#include <stdio.h>
#include <string.h>

#include "cli/top/ages.h"
#include "cli/top/draw_parts.h"
#include "command/json_value.h"

void draw_age(struct drawing *drawing, size_t row, size_t end, int64_t time_ms) {
  struct age age = ages_since(time_ms, drawing->now_ms);
  grid_right(drawing->grid, row, end - 4, end, STYLE_PLAIN, age.text);
  if (age.until_ms && (!drawing->until_ms || age.until_ms < drawing->until_ms))
    drawing->until_ms = age.until_ms;
}

enum style draw_level_style(const char *level) {
  if (strcmp(level, "critical") == 0) return STYLE_CRITICAL;
  if (strcmp(level, "error") == 0) return STYLE_ERROR;
  return strcmp(level, "warning") == 0 ? STYLE_WARNING : STYLE_PLAIN;
}

static bool shows_text(const struct top *top) {
  return top->mode == MODE_EXPLAIN || top->mode == MODE_HELP || top->mode == MODE_PREVIEW;
}

/* Draws "12 of 345" if not all rows are visible, and the filter, at the end of the line. Returns
 * where these begin. */
static size_t draw_position(struct drawing *drawing, size_t row, size_t at, size_t chosen,
                            size_t count, size_t shown, const char *filter) {
  char text[TOP_FILTER_BYTES + 64] = "";
  size_t len = 0, end = drawing->grid->columns - 1;
  if (filter[0]) len = (size_t)snprintf(text, sizeof text, " /%s ", filter);
  if (count > shown && len < sizeof text)
    (void)snprintf(text + len, sizeof text - len, " %zu of %zu ", chosen + 1, count);
  size_t width = grid_columns(span_text(text));
  if (!text[0] || at + width >= end) return end;
  grid_text(drawing->grid, row, end - width, end, STYLE_BOLD, text);
  return end - width;
}

static void draw_bar(struct drawing *drawing, const char *store) {
  const struct top *top = drawing->top;
  const json_t *list = json_object_get(top->all_sessions, "sessions"), *session = NULL;
  size_t running = 0, i = 0, columns = drawing->grid->columns;
  char text[96];
  json_array_foreach(list, i, session) running += json_is_true(json_object_get(session, "alive"));
  unsigned long long total = json_value_count(drawing->top->sessions, "total");
  (void)snprintf(text, sizeof text, " tidings top   %llu session%s, %zu running", total,
                 total == 1 ? "" : "s", running);
  size_t used = grid_text(drawing->grid, 0, 0, columns, STYLE_BAR, text);
  size_t end = draw_position(drawing, 0, used, top->session_row, top_session_count(top),
                             top->shown_sessions, top->filters[PANE_SESSIONS]);
  if (used + 3 < end) grid_right(drawing->grid, 0, used + 3, end, STYLE_BAR, store);
  grid_paint(drawing->grid, 0, 0, columns, STYLE_BAR);
}

/* Draws the line above the lower list, which names its session. */
static void draw_about(struct drawing *drawing, size_t row) {
  const json_t *session = top_session(drawing->top);
  size_t columns = drawing->grid->columns;
  grid_rule(drawing->grid, row, 0, columns);
  if (!session) return;
  const char *folder = json_value_text(session, "cwd");
  size_t at = grid_text(drawing->grid, row, 2, 3, STYLE_PLAIN, " ");
  at = grid_text(drawing->grid, row, at, columns - 3, STYLE_BOLD,
                 json_value_text(session, "session"));
  if (folder[0]) {
    at = grid_text(drawing->grid, row, at, columns - 3, STYLE_PLAIN, "  in ");
    at = grid_text(drawing->grid, row, at, columns - 3, STYLE_PLAIN, folder);
  }
  at = grid_text(drawing->grid, row, at, columns, STYLE_PLAIN, " ");
  const struct top *top = drawing->top;
  if (top->queue && !shows_text(top))
    (void)draw_position(drawing, row, at, top->item_row, top_item_count(top), top->shown_items,
                        top->filters[PANE_ITEMS]);
}

static void draw_too_small(const struct grid *whole) {
  struct grid grid = *whole; /* this copy shares the cells */
  char text[160];
  (void)snprintf(text, sizeof text,
                 "tidings top needs %d columns and %d rows; here are %zu and %zu. q: quit",
                 TOP_LEAST_COLUMNS, TOP_LEAST_ROWS, grid.columns, grid.rows);
  struct tidings_span rest = span_text(text);
  for (size_t row = 0; row < grid.rows && rest.len; row++) {
    size_t next = 0, len = grid_line(rest, grid.columns, &next);
    grid_put(&grid, row, 0, grid.columns, STYLE_PLAIN, span_of(rest.ptr, len));
    rest = span_of(rest.ptr + next, rest.len - next);
  }
}

int64_t top_draw(struct top *top, int64_t now_ms, const char *store, struct grid *grid) {
  enum { BAR = 1, TITLES = 1, ABOUT = 1, FOOT = 2 };
  struct drawing drawing = {.top = top, .grid = grid, .now_ms = now_ms};
  if (grid->rows < TOP_LEAST_ROWS || grid->columns < TOP_LEAST_COLUMNS) {
    draw_too_small(grid);
    return 0;
  }
  size_t free_rows = grid->rows - BAR - TITLES - ABOUT - FOOT;
  size_t count = top_session_count(top) ? top_session_count(top) : 1, half = free_rows / 2;
  size_t below = shows_text(top) ? free_rows - half : draw_item_lines(top);
  size_t most =
      below < free_rows - half ? free_rows - below : half; /* free rows above are used too */
  size_t sessions = count < most ? count : most;
  struct rows upper = {BAR, TITLES + sessions};
  struct rows lower = {upper.first + upper.count + ABOUT, free_rows - sessions};
  draw_sessions(&drawing, upper);
  draw_bar(&drawing, store);
  if (shows_text(top)) draw_text(&drawing, lower);
  else draw_items(&drawing, lower);
  draw_about(&drawing, upper.first + upper.count);
  draw_foot(&drawing, (struct rows){grid->rows - FOOT, FOOT});
  return drawing.until_ms;
}
