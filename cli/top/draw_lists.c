/* SPDX-License-Identifier: MIT
 *
 * top/draw_lists.c: draws the sessions, and the chosen one's messages and notifications.
 */
#include <stdio.h>
#include <string.h>

#include "cli/top/ages.h"
#include "cli/top/draw_parts.h"
#include "command/json_value.h"

/* Returns the first row to show, so that the chosen one is visible. */
static size_t first_shown(size_t chosen, size_t rows) {
  return chosen >= rows ? chosen - rows + 1 : 0;
}

static void draw_choice(struct drawing *drawing, size_t row, enum top_pane pane) {
  bool here = drawing->top->pane == pane;
  grid_paint(drawing->grid, row, 0, drawing->grid->columns, here ? STYLE_CHOSEN : STYLE_MARKED);
}

/* -- sessions ---------------------------------------------------------------------------------- */

/* The ends of the columns. */
struct session_columns {
  size_t session, owner, state, levels[4], queue, used;
};

static const char *const levels[] = {"critical", "error", "warning", "info"};
static const char *const level_titles[] = {"CRIT", "ERR", "WARN", "INFO"};

static struct session_columns place_columns(size_t columns) {
  enum { USED = 5, QUEUE = 6, LEVEL = 5, STATE = 12 };
  struct session_columns ends = {.used = columns - 1};
  size_t owner = columns >= 80 ? 17 + (columns - 80) / 4 : columns >= 66 ? 12 : 0;
  ends.queue = ends.used - USED;
  for (size_t i = 0; i < 4; i++) ends.levels[i] = ends.queue - QUEUE - (3 - i) * LEVEL;
  ends.state = ends.levels[0] - LEVEL;
  ends.owner = ends.state - STATE;
  ends.session = ends.owner - owner;
  return ends;
}

static void draw_titles(struct drawing *drawing, size_t row) {
  struct session_columns ends = place_columns(drawing->grid->columns);
  struct grid *grid = drawing->grid;
  grid_text(grid, row, 1, ends.session, STYLE_BOLD, "SESSION");
  grid_text(grid, row, ends.session + 1, ends.owner, STYLE_BOLD, "OWNER");
  grid_text(grid, row, ends.owner + 1, ends.state, STYLE_BOLD, "STATE");
  for (size_t i = 0; i < 4; i++)
    grid_right(grid, row, ends.levels[i] - 4, ends.levels[i], STYLE_BOLD, level_titles[i]);
  grid_right(grid, row, ends.queue - 5, ends.queue, STYLE_BOLD, "QUEUE");
  grid_right(grid, row, ends.used - 4, ends.used, STYLE_BOLD, "USED");
}

/* Draws a count in four columns, blank for 0. */
static void draw_count(struct drawing *drawing, size_t row, size_t end, uint64_t count,
                       enum style style) {
  char text[32] = "";
  if (count > 9999) (void)snprintf(text, sizeof text, "%lluk", (unsigned long long)count / 1000);
  else if (count) (void)snprintf(text, sizeof text, "%llu", (unsigned long long)count);
  grid_right(drawing->grid, row, end - 4, end, style, text);
}

static void draw_owner(struct drawing *drawing, size_t row, size_t from, size_t end,
                       const json_t *session) {
  const char *host = json_value_text(session, "host");
  const char *machine = json_value_text(session, "machine");
  char pid[32] = "none";
  uint64_t number = json_value_count(session, "pid");
  if (number)
    (void)snprintf(pid, sizeof pid, "%s%llu", host[0] ? " " : "", (unsigned long long)number);
  if (host[0] && number) from = grid_text(drawing->grid, row, from, end, STYLE_PLAIN, host);
  from = grid_text(drawing->grid, row, from, end, STYLE_PLAIN, pid);
  if (!machine[0]) return;
  from = grid_text(drawing->grid, row, from, end, STYLE_PLAIN, " on ");
  grid_text(drawing->grid, row, from, end, STYLE_PLAIN, machine);
}

static void draw_session(struct drawing *drawing, size_t row, const json_t *session) {
  struct session_columns ends = place_columns(drawing->grid->columns);
  const json_t *by_level = json_object_get(session, "by_level");
  const char *state = json_value_text(session, "state");
  bool known = json_is_true(json_object_get(session, "alive")) || strcmp(state, "damaged") == 0;
  grid_text(drawing->grid, row, 1, ends.session, STYLE_PLAIN, json_value_text(session, "session"));
  draw_owner(drawing, row, ends.session + 1, ends.owner, session);
  const char *over = json_object_get(session, "closed") ? "closed" : "not running";
  grid_text(drawing->grid, row, ends.owner + 1, ends.state, STYLE_PLAIN, known ? state : over);
  for (size_t i = 0; i < 4; i++)
    draw_count(drawing, row, ends.levels[i], json_value_count(by_level, levels[i]),
               draw_level_style(levels[i]));
  draw_count(drawing, row, ends.queue, json_value_count(session, "queued"), STYLE_PLAIN);
  draw_age(drawing, row, ends.used, ages_read(json_value_text(session, "used")));
}

void draw_sessions(struct drawing *drawing, struct rows rows) {
  struct top *top = drawing->top;
  const json_t *list = json_object_get(top->sessions, "sessions");
  size_t shown = rows.count - 1, first = first_shown(top->session_row, shown);
  draw_titles(drawing, rows.first);
  top->shown_sessions = shown;
  if (!json_array_size(list))
    grid_text(drawing->grid, rows.first + 1, 1, drawing->grid->columns, STYLE_PLAIN,
              top->filters[PANE_SESSIONS][0] ? "No session has these words in it; Escape lists all."
                                             : "The store has no sessions yet.");
  for (size_t i = 0; i < shown && first + i < json_array_size(list); i++) {
    size_t row = rows.first + 1 + i;
    draw_session(drawing, row, json_array_get(list, first + i));
    if (first + i == top->session_row) draw_choice(drawing, row, PANE_SESSIONS);
  }
}

/* -- messages and notifications ---------------------------------------------------------------- */

static void draw_message(struct drawing *drawing, size_t row, const json_t *message) {
  struct grid *grid = drawing->grid;
  char place[32];
  (void)snprintf(place, sizeof place, "%llu",
                 (unsigned long long)json_value_count(message, "place"));
  grid_right(grid, row, 1, 5, STYLE_PLAIN, place);
  grid_text(grid, row, 6, 24, STYLE_PLAIN, json_value_text(message, "id"));
  grid_text(grid, row, 25, 33, STYLE_PLAIN, json_value_text(message, "state"));
  draw_age(drawing, row, 38, (int64_t)json_value_count(message, "queued_at"));
  grid_text(grid, row, 39, grid->columns - 1, STYLE_PLAIN, json_value_text(message, "content"));
}

static void draw_notification(struct drawing *drawing, size_t row, const json_t *item) {
  struct grid *grid = drawing->grid;
  const json_t *kind = json_object_get(item, "kind");
  const char *level = json_value_text(item, "level");
  size_t at = grid_text(grid, row, 6, 24, STYLE_PLAIN, json_value_text(kind, "source"));
  at = grid_text(grid, row, at, 24, STYLE_PLAIN, ".");
  grid_text(grid, row, at, 24, STYLE_PLAIN, json_value_text(kind, "name"));
  grid_text(grid, row, 25, 33, draw_level_style(level), level);
  draw_age(drawing, row, 38, ages_read(json_value_text(item, "time")));
  grid_text(grid, row, 39, grid->columns - 1, STYLE_PLAIN, json_value_text(item, "message"));
}

static void draw_queue_title(struct drawing *drawing, size_t row) {
  unsigned long long count = json_value_count(drawing->top->queue, "count");
  char text[96] = "Queue: no message waits";
  if (count)
    (void)snprintf(text, sizeof text, "Queue: %llu message%s", count, count == 1 ? "" : "s");
  grid_text(drawing->grid, row, 1, drawing->grid->columns, STYLE_BOLD, text);
}

static void draw_pending_title(struct drawing *drawing, size_t row) {
  const json_t *pending = drawing->top->pending;
  unsigned long long count = json_value_count(pending, "count");
  unsigned long long leased = json_value_count(pending, "leased");
  char text[96] = "Pending: nothing";
  size_t at = 1, end = drawing->grid->columns;
  if (count)
    (void)snprintf(text, sizeof text, "Pending: %llu notification%s", count, count == 1 ? "" : "s");
  at = grid_text(drawing->grid, row, at, end, STYLE_BOLD, text);
  if (leased) {
    (void)snprintf(text, sizeof text, ", %llu being delivered", leased);
    at = grid_text(drawing->grid, row, at, end, STYLE_BOLD, text);
  }
  size_t listed = json_array_size(json_object_get(pending, "items"));
  if (count <= listed) return;
  (void)snprintf(text, sizeof text, " (the oldest %zu are listed)", listed);
  grid_text(drawing->grid, row, at, end, STYLE_PLAIN, text);
}

/* -- what was delivered last ------------------------------------------------------------------- */

enum { MOST_DELIVERED = 8 };

/* Returns the delivered item `back` places before the newest; NULL: there are fewer. */
static const json_t *delivered_at(const struct top *top, size_t back, const json_t **ret_delivery) {
  const json_t *deliveries = json_object_get(top->delivered, "deliveries");
  for (size_t i = json_array_size(deliveries); i-- > 0;) {
    const json_t *delivery = json_array_get(deliveries, i);
    const json_t *items = json_object_get(delivery, "items");
    if (strcmp(json_value_text(delivery, "outcome"), "committed") != 0) continue;
    for (size_t at = json_array_size(items); at-- > 0;) {
      const json_t *item = json_array_get(items, at);
      if (strcmp(json_value_text(item, "outcome"), "delivered") != 0 || back--) continue;
      *ret_delivery = delivery;
      return item;
    }
  }
  return NULL;
}

static size_t delivered_count(const struct top *top) {
  const json_t *delivery = NULL;
  size_t count = 0;
  while (count < MOST_DELIVERED && delivered_at(top, count, &delivery)) count++;
  return count;
}

/* Draws the title of the last deliveries, or one of their lines. */
static void draw_delivered(struct drawing *drawing, size_t row, size_t line) {
  const json_t *delivery = NULL;
  struct grid *grid = drawing->grid;
  if (line == 0) {
    grid_text(grid, row, 1, grid->columns, STYLE_BOLD, "Delivered last");
    return;
  }
  const json_t *item = delivered_at(drawing->top, line - 1, &delivery);
  const json_t *kind = json_object_get(item, "kind");
  const char *level = json_value_text(item, "level");
  size_t at = grid_text(grid, row, 6, 24, STYLE_DIM, json_value_text(kind, "source"));
  at = grid_text(grid, row, at, 24, STYLE_DIM, ".");
  grid_text(grid, row, at, 24, STYLE_DIM, json_value_text(kind, "name"));
  grid_text(grid, row, 25, 33, STYLE_DIM, level);
  draw_age(drawing, row, 38, ages_read(json_value_text(delivery, "time")));
  grid_text(grid, row, 39, grid->columns - 1, STYLE_DIM, json_value_text(item, "message"));
}

size_t draw_item_lines(const struct top *top) {
  size_t delivered = delivered_count(top);
  return top->queue ? top_item_count(top) + 2 + (delivered ? delivered + 1 : 0) : 1;
}

/* The lines are the queue's title and its messages, the title of the pending notifications and
 * these, then the last deliveries. */
static void draw_item_line(struct drawing *drawing, size_t row, size_t line) {
  struct top *top = drawing->top;
  size_t messages = top_message_count(top);
  if (line == 0) draw_queue_title(drawing, row);
  else if (line <= messages) draw_message(drawing, row, top_item_at(top, line - 1));
  else if (line == messages + 1) draw_pending_title(drawing, row);
  else if (line >= top_item_count(top) + 2)
    draw_delivered(drawing, row, line - top_item_count(top) - 2);
  else draw_notification(drawing, row, top_item_at(top, line - 2));
}

/* If not everything fits, a quarter of the rows is kept for the last deliveries. */
static size_t rows_for_delivered(const struct top *top, size_t rows) {
  size_t delivered = delivered_count(top), most = rows / 4;
  if (!delivered || most < 2 || draw_item_lines(top) <= rows) return 0;
  return delivered + 1 < most ? delivered + 1 : most;
}

void draw_items(struct drawing *drawing, struct rows rows) {
  struct top *top = drawing->top;
  if (!top->queue) return; /* no session is chosen */
  size_t below = rows_for_delivered(top, rows.count), above = rows.count - below;
  size_t lines = below ? top_item_count(top) + 2 : draw_item_lines(top);
  size_t chosen = top->item_row + (top->item_row < top_message_count(top) ? 1 : 2);
  size_t first = first_shown(chosen, above);
  top->shown_items = above;
  for (size_t i = 0; i < above && first + i < lines; i++) {
    draw_item_line(drawing, rows.first + i, first + i);
    if (first + i == chosen) draw_choice(drawing, rows.first + i, PANE_ITEMS);
  }
  for (size_t i = 0; i < below; i++) draw_delivered(drawing, rows.first + above + i, i);
}
