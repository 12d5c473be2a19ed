/* SPDX-License-Identifier: MIT
 */
#include "cli/top/grid.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "common/utf8.h"

int grid_make(size_t rows, size_t columns, struct grid *ret_grid) {
  struct grid grid = {.rows = rows, .columns = columns};
  grid.cells = calloc(rows * columns + 1, sizeof *grid.cells);
  if (!grid.cells) return -1;
  for (size_t i = 0; i < rows * columns; i++)
    grid.cells[i] = (struct cell){.text = " ", .len = 1, .width = 1};
  *ret_grid = grid;
  return 0;
}

void grid_free(struct grid *grid) {
  free(grid->cells);
  *grid = (struct grid){.rows = 0};
}

/* -- characters -------------------------------------------------------------------------------- */

/* A character of the text, as the grid shows it. */
struct glyph {
  size_t taken; /* bytes of the text */
  size_t len, columns;
  bool escaped; /* each byte gets a cell */
  char text[16];
};

/* Returns `mark`, or `plain` if the locale has no such character. */
static struct glyph make_mark(uint32_t mark, char plain, size_t taken) {
  struct glyph glyph = {.taken = taken, .len = 1, .columns = 1, .text = {plain}};
  if (wcwidth((wchar_t)mark) == 1) glyph.len = utf8_encode(mark, glyph.text);
  return glyph;
}

static struct glyph make_escaped(uint32_t code_point, size_t taken) {
  static const char digits[] = "0123456789ABCDEF";
  struct glyph glyph = {.taken = taken, .escaped = true, .text = "{U+"};
  int shift = code_point > 0xFFFFF ? 20 : code_point > 0xFFFF ? 16 : 12;
  glyph.len = 3;
  for (; shift >= 0; shift -= 4) glyph.text[glyph.len++] = digits[code_point >> shift & 0xF];
  glyph.text[glyph.len++] = '}';
  glyph.columns = glyph.len;
  return glyph;
}

static bool is_emoji_form(uint32_t code_point) { return code_point - 0xFE0E <= 1; }

static struct glyph glyph_at(struct tidings_span text, size_t at) {
  struct glyph glyph = {.taken = 1, .len = 1, .columns = 1};
  uint32_t code_point = 0;
  unsigned char byte = (unsigned char)text.ptr[at];
  if (byte >= 0x20 && byte < 0x7F) {
    glyph.text[0] = (char)byte;
    return glyph;
  }
  if (byte == '\n') return make_mark(0x23CE, '|', 1);
  if (byte == '\t') return make_mark(' ', ' ', 1);
  struct utf8_shown shown = utf8_show(text, at);
  glyph.taken = shown.taken;
  if (!utf8_decode(text, at, &code_point) || utf8_is_deceptive(code_point)) {
    glyph.escaped = true;
    glyph.len = glyph.columns = shown.len;
  } else {
    /* Without the mark for the coloured form, whose width differs between terminals. */
    int width = is_emoji_form(code_point) ? 0 : wcwidth((wchar_t)code_point);
    if (width < 0) return make_escaped(code_point, shown.taken);
    glyph.columns = (size_t)width;
    glyph.len = is_emoji_form(code_point) ? 0 : shown.len;
  }
  memcpy(glyph.text, shown.text, glyph.len);
  return glyph;
}

size_t grid_columns(struct tidings_span text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.len;) {
    struct glyph glyph = glyph_at(text, at);
    columns += glyph.columns;
    at += glyph.taken;
  }
  return columns;
}

size_t grid_fit(struct tidings_span text, size_t columns) {
  size_t at = 0, used = 0;
  while (at < text.len) {
    struct glyph glyph = glyph_at(text, at);
    if (used + glyph.columns > columns) break;
    used += glyph.columns;
    at += glyph.taken;
  }
  return at;
}

size_t grid_line(struct tidings_span text, size_t columns, size_t *ret_next) {
  const char *line_break = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
  size_t len = line_break ? (size_t)(line_break - text.ptr) : text.len;
  size_t fit = grid_fit(span_of(text.ptr, len), columns);
  if (fit == len) {
    *ret_next = line_break ? len + 1 : len;
    return len;
  }
  if (!fit) fit = glyph_at(text, 0).taken; /* it is wider than the line: cut when it is put */
  size_t blank = fit;
  while (blank && text.ptr[blank] != ' ') blank--;
  *ret_next = blank ? blank + 1 : fit;
  return blank ? blank : fit;
}

/* -- putting ----------------------------------------------------------------------------------- */

static struct cell *cell_at(const struct grid *grid, size_t row, size_t column) {
  return &grid->cells[row * grid->columns + column];
}

static void add_accent(struct cell *cell, const struct glyph *glyph) {
  if (cell->len + glyph->len > sizeof cell->text) return; /* the cell is full */
  memcpy(cell->text + cell->len, glyph->text, glyph->len);
  cell->len = (uint8_t)(cell->len + glyph->len);
}

static void put_glyph(struct grid *grid, size_t row, size_t column, enum style style,
                      const struct glyph *glyph) {
  for (size_t i = 0; i < glyph->columns; i++)
    *cell_at(grid, row, column + i) = (struct cell){.style = (uint8_t)style};
  for (size_t i = 0; glyph->escaped && i < glyph->columns; i++) {
    struct cell *cell = cell_at(grid, row, column + i);
    cell->text[0] = glyph->text[i];
    cell->len = cell->width = 1;
  }
  if (glyph->escaped) return;
  struct cell *cell = cell_at(grid, row, column);
  memcpy(cell->text, glyph->text, glyph->len);
  cell->len = (uint8_t)glyph->len;
  cell->width = (uint8_t)glyph->columns;
}

size_t grid_put(struct grid *grid, size_t row, size_t column, size_t end, enum style style,
                struct tidings_span text) {
  const struct glyph cut = make_mark(0x2026, '>', 0);
  if (end > grid->columns) end = grid->columns;
  if (row >= grid->rows || column >= end) return column;
  size_t first = column;
  bool whole = grid_fit(text, end - column) == text.len;
  for (size_t at = 0; at < text.len;) {
    struct glyph glyph = glyph_at(text, at);
    if (column + glyph.columns > end - !whole) break;
    if (glyph.columns) put_glyph(grid, row, column, style, &glyph);
    else if (column > first) {
      size_t back = cell_at(grid, row, column - 1)->width ? 1 : 2;
      if (column >= first + back) add_accent(cell_at(grid, row, column - back), &glyph);
    }
    column += glyph.columns;
    at += glyph.taken;
  }
  if (!whole) put_glyph(grid, row, column++, style, &cut);
  return column;
}

size_t grid_text(struct grid *grid, size_t row, size_t column, size_t end, enum style style,
                 const char *text) {
  return grid_put(grid, row, column, end, style, span_text(text));
}

void grid_right(struct grid *grid, size_t row, size_t column, size_t end, enum style style,
                const char *text) {
  size_t width = grid_columns(span_text(text));
  if (end > grid->columns) end = grid->columns;
  if (column + width < end) column = end - width;
  grid_text(grid, row, column, end, style, text);
}

void grid_paint(struct grid *grid, size_t row, size_t column, size_t end, enum style style) {
  if (end > grid->columns) end = grid->columns;
  for (; row < grid->rows && column < end; column++)
    cell_at(grid, row, column)->style = (uint8_t)style;
}

void grid_rule(struct grid *grid, size_t row, size_t column, size_t end) {
  const struct glyph dash = make_mark(0x2500, '-', 0);
  if (end > grid->columns) end = grid->columns;
  for (; row < grid->rows && column < end; column++) put_glyph(grid, row, column, STYLE_DIM, &dash);
}
