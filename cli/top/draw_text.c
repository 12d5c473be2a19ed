/* SPDX-License-Identifier: MIT
 *
 * top/draw_text.c: draws texts instead of the lower list, and the two lines at the bottom.
 */
#include <stdio.h>
#include <string.h>

#include "cli/top/draw_parts.h"
#include "command/json_value.h"

static const char help[] =
    "Up Down k j    choose a row; Page Up, Page Down, Home and End too\n"
    "Tab            go between the sessions and what waits for the chosen one\n"
    "/              list only rows with these words; Escape lists all again\n"
    "o              another order of the sessions: by name, by pending, by use\n"
    "Enter x        explain what happened to the message or notification\n"
    "v              preview what the next tool result would carry\n"
    "n p            submit a new message; push a new notification\n"
    "e              edit the message as in a shell; Ctrl-J is a line break\n"
    "c              cancel the message, after a question\n"
    "K J            move the message up or down in the queue\n"
    "s              steer the message into the running turn, or take it back\n"
    "D Z            close the session; close all in which nothing waits: only\n"
    "               sessions that nobody runs, and after a question\n"
    "q              quit; Ctrl-C too\n"
    "CRIT to INFO count what is pending, QUEUE messages; USED: its last use, ago.\n"
    "As in htop: F1 help, F3 F4 filter, F6 order, F10 quit. As in less: g G, Ctrl-F\n"
    "Ctrl-B. As in k9s: d describes (explains), Ctrl-D deletes (closes), Escape, ?.";

/* -- texts ------------------------------------------------------------------------------------- */

/* Counts lines, and draws those that fall into the rows. */
struct text_place {
  struct drawing *drawing;
  struct rows rows;
  size_t line, above; /* the next line; how many lines are above the rows */
};

static void put_lines(struct text_place *place, struct tidings_span text, size_t indent) {
  struct grid *grid = place->drawing->grid;
  size_t end = grid->columns - 1;
  do {
    size_t next = 0, len = grid_line(text, end - indent, &next);
    size_t row = place->rows.first + place->line - place->above;
    if (place->line >= place->above && place->line - place->above < place->rows.count)
      grid_put(grid, row, indent, end, STYLE_PLAIN, span_of(text.ptr, len));
    place->line++;
    text = span_of(text.ptr + next, text.len - next);
  } while (text.len);
}

/* Indents the message, which may be hostile, so that none of its lines can look like the
 * explanation. */
static void put_explanation(struct text_place *place) {
  const struct top *top = place->drawing->top;
  put_lines(place, span_text(top->words ? top->words : ""), 4);
  put_lines(place, span_text(""), 1);
  put_lines(place, span_text(top->explanation ? top->explanation : ""), 1);
}

void draw_text(struct drawing *drawing, struct rows rows) {
  struct top *top = drawing->top;
  struct text_place place = {.drawing = drawing, .rows = rows, .above = top->scroll};
  if (top->mode == MODE_HELP) put_lines(&place, span_text(help), 1);
  else put_explanation(&place);
  top->shown_text = rows.count;
  top->text_ends = place.line <= top->scroll + rows.count;
}

/* -- the bottom -------------------------------------------------------------------------------- */

/* Draws as much of the text as fits around the cursor. */
static void draw_editor(struct drawing *drawing, size_t row, const char *title) {
  const struct editor *editor = &drawing->top->editor;
  struct grid *grid = drawing->grid;
  struct tidings_span text = buffer_view(&editor->text);
  size_t from = grid_text(grid, row, 1, grid->columns, STYLE_BOLD, title);
  size_t width = grid->columns - 1 - from, first = 0;
  while (grid_columns(span_of(text.ptr + first, editor->cursor - first)) >= width) {
    size_t half = grid_fit(span_of(text.ptr + first, editor->cursor - first), width / 2);
    first += half ? half : 1;
  }
  grid_put(grid, row, from, grid->columns - 1, STYLE_PLAIN,
           span_of(text.ptr + first, text.len - first));
  grid->cursor_row = row;
  grid->cursor_column = from + grid_columns(span_of(text.ptr + first, editor->cursor - first));
  grid->cursor = true;
}

static void draw_question(struct drawing *drawing, size_t row) {
  struct grid *grid = drawing->grid;
  const char *words = json_value_text(top_item(drawing->top), "content");
  size_t end = grid->columns - 8, at = grid_text(grid, row, 1, end, STYLE_BOLD, "Cancel \"");
  at = grid_text(grid, row, at, end, STYLE_PLAIN, words);
  grid_text(grid, row, at, grid->columns, STYLE_BOLD, "\"? y/n");
}

/* Draws "Close parser, where 3 notifications and 1 message wait? y/n". */
static void draw_close_question(struct drawing *drawing, size_t row) {
  struct grid *grid = drawing->grid;
  const json_t *session = top_session(drawing->top);
  unsigned long long pending = json_value_count(session, "pending"),
                     queued = json_value_count(session, "queued");
  char waits[96] = "? y/n";
  if (pending || queued)
    (void)snprintf(waits, sizeof waits, ", where %llu notification%s and %llu message%s wait? y/n",
                   pending, pending == 1 ? "" : "s", queued, queued == 1 ? "" : "s");
  size_t end = grid->columns - 1 - strlen(waits);
  size_t at = grid_text(grid, row, 1, end, STYLE_BOLD, "Close ");
  at = grid_text(grid, row, at, end, STYLE_PLAIN, json_value_text(session, "session"));
  grid_text(grid, row, at, grid->columns, STYLE_BOLD, waits);
}

static void draw_clear_question(struct drawing *drawing, size_t row) {
  char text[96];
  size_t count = top_idle_count(drawing->top);
  (void)snprintf(text, sizeof text,
                 "Close %zu session%s that nobody runs, with nothing that waits? y/n", count,
                 count == 1 ? "" : "s");
  grid_text(drawing->grid, row, 1, drawing->grid->columns, STYLE_BOLD, text);
}

static const char *keys_of(const struct top *top) {
  switch (top->mode) {
  case MODE_EDIT: return "Enter send  Escape leave as it was  Ctrl-J line break";
  case MODE_FILTER: return "Enter keep  Escape list everything";
  case MODE_SUBMIT:
  case MODE_PUSH: return "Enter send  Escape send nothing  Ctrl-J line break";
  case MODE_CANCEL: return "y cancel the message  any other key: no";
  case MODE_CLOSE: return "y close the session  any other key: no";
  case MODE_CLEAR: return "y close the sessions  any other key: no";
  case MODE_GONE: return "Enter Escape back";
  case MODE_EXPLAIN:
  case MODE_PREVIEW:
  case MODE_HELP: return "Up Down scroll  Escape back";
  case MODE_LISTS: break;
  }
  if (top->pane == PANE_SESSIONS) return "/ filter  n new  D close  Tab messages  ? help  q quit";
  if (top->item_is_message) return "x explain  e edit  c cancel  K J move  s steer  ? help  q quit";
  return "/ filter  x explain  Tab sessions  ? help  q quit";
}

void draw_foot(struct drawing *drawing, struct rows rows) {
  struct top *top = drawing->top;
  struct grid *grid = drawing->grid;
  if (top->mode == MODE_EDIT) draw_editor(drawing, rows.first, "New words: ");
  else if (top->mode == MODE_FILTER) draw_editor(drawing, rows.first, "/");
  else if (top->mode == MODE_SUBMIT) draw_editor(drawing, rows.first, "New message: ");
  else if (top->mode == MODE_PUSH) draw_editor(drawing, rows.first, "New notification: ");
  else if (top->mode == MODE_GONE && top->editor.text.len)
    draw_editor(drawing, rows.first, "Not in the queue any more: ");
  else if (top->mode == MODE_GONE)
    grid_text(grid, rows.first, 1, grid->columns - 1, STYLE_BOLD,
              "The message is not in the queue any more.");
  else if (top->mode == MODE_CANCEL) draw_question(drawing, rows.first);
  else if (top->mode == MODE_CLOSE) draw_close_question(drawing, rows.first);
  else if (top->mode == MODE_CLEAR) draw_clear_question(drawing, rows.first);
  else grid_text(grid, rows.first, 1, grid->columns - 1, STYLE_BOLD, top->note);
  grid_text(grid, rows.first + 1, 1, grid->columns - 1, STYLE_DIM, keys_of(top));
}
