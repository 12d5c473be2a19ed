/* SPDX-License-Identifier: MIT
 *
 * test_draw.c: the screens of `tidings top`, against golden files; every size; hostile text.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "cli/top/ages.h"
#include "common/utf8.h"
#include "kit.h"
#include "top/top_kit.h"

static void expect_screen(struct top *top, const char *name) {
  char path[64];
  (void)snprintf(path, sizeof path, "../../top/golden/%s", name);
  expect_golden(path, span_text(screen_of(top, 24, 80)));
}

Test(top_draw, the_lists) {
  struct top top = new_top();
  expect_screen(&top, "sessions.txt");
  press_all(&top, "\tj");
  expect_screen(&top, "items.txt");
  top_finish(&top);
}

/* The page that shows the screen to people is up to date. */
Test(top_draw, the_page_shows_the_screen) {
  static char page[1 << 20];
  struct top top = new_top();
  FILE *file = fopen(TIDINGS_PAGE, "r");
  cr_assert(file);
  page[fread(page, 1, sizeof page - 1, file)] = '\0';
  fclose(file);
  press_all(&top, "\t");
  char *screen = strdup(screen_of(&top, 24, 80));
  cr_expect(strstr(page, screen), "docs/cli.md shows no such screen:\n%s", screen);
  free(screen);
  top_finish(&top);
}

Test(top_draw, an_explanation_cannot_be_imitated) {
  struct top top = new_top();
  cr_assert_eq(press_all(&top, "\tjjx").what, TOP_ASK_EXPLANATION);
  top.explanation =
      strdup("The notification \"ci.failed\", level error, was received at "
             "2026-01-01T23:59:30.000Z. It is pending: it will be shown with the next tool result "
             "or chat request, if it is still wanted then and there is room for it.");
  expect_screen(&top, "explanation.txt");
  top_finish(&top);
}

Test(top_draw, the_other_modes) {
  struct top top = new_top();
  press_all(&top, "\te");
  expect_screen(&top, "edit.txt");
  press_all(&top, "\x1b"
                  "c");
  expect_screen(&top, "cancel.txt");
  press_all(&top, "n?");
  expect_screen(&top, "help.txt");
  cr_expect(top.text_ends, "all of it is there");
  top_finish(&top);
}

/* Many sessions and little that waits: no line stays empty, and the place in the list is seen. */
Test(top_draw, all_lines_are_used) {
  struct top top = new_top();
  json_t *list = json_array();
  for (int i = 0; i < 200; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "s%03d", i);
    json_array_append_new(list, json_pack("{s:s, s:b}", "session", name, "alive", 1));
  }
  top_take_sessions(&top, json_pack("{s:i, s:o}", "total", 200, "sessions", list));
  top_take_items(&top, json_of("{'count': 0, 'messages': []}"),
                 json_of("{'count': 0, 'items': []}"));
  const char *screen = screen_of(&top, 24, 80);
  cr_expect(strstr(screen, "s016"), "%s", screen);
  cr_expect(strstr(screen, " 1 of 200"), "%s", screen);
  top_finish(&top);
}

Test(top_draw, delivered_last_is_listed) {
  struct top top = new_top();
  top_take_delivered(
      &top, json_of("{'deliveries': [{'outcome': 'rolled_back', 'items': [{'outcome': 'pending',"
                    " 'kind': {'source': 'a', 'name': 'b'}, 'message': 'no'}]},"
                    " {'outcome': 'committed', 'time': '2026-01-01T23:59:00.000Z', 'items': ["
                    "{'outcome': 'superseded', 'message': 'gone'}, {'outcome': 'delivered',"
                    " 'kind': {'source': 'ci', 'name': 'passed'}, 'level': 'info',"
                    " 'message': 'Green again.'}]}]}"));
  const char *screen = screen_of(&top, 24, 80);
  const char *title = strstr(screen, "Delivered last");
  cr_assert(title, "%s", screen);
  cr_expect(strstr(title, "ci.passed          info       1m Green again."), "%s", title);
  cr_expect(!strstr(screen, "gone") && !strstr(title, " no"), "%s", title);
  struct buffer many = BUFFER_EMPTY;
  for (int i = 0; i < 40; i++)
    buffer_format(&many, "%s{'id': 'm%d', 'content': 'Message %d.'}", i ? ", " : "[", i, i);
  buffer_text(&many, "]");
  char *messages = buffer_take(&many);
  take_messages(&top, messages);
  free(messages);
  title = strstr(screen_of(&top, 24, 80), "Delivered last");
  cr_assert(title, "also below more than fits");
  cr_expect(strstr(title, "Green again."), "%s", title);
  press_all(&top, "\tjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj");
  screen = screen_of(&top, 24, 80);
  cr_expect(strstr(screen, "Message 29.") && strstr(screen, "Green again."), "%s", screen);
  top_finish(&top);
}

Test(top_draw, an_empty_store) {
  struct top top = new_top();
  top_take_sessions(&top, json_of("{'total': 0, 'sessions': []}"));
  cr_expect_null(top.queue);
  press_all(&top, "j\tjkexcsJK");
  expect_screen(&top, "empty.txt");
  top_finish(&top);
}

/* -- every size -------------------------------------------------------------------------------- */

/* C0, C1, DEL, bidi, zero-width, wide and combining characters. All text is UTF-8. */
#define HOSTILE                                                                                    \
  "a日本語日本語日本語日本語日本語日本語\x1b[31m\x07\x7f\xc2\x9b"                \
  "2J\xe2\x80\xae\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbf\xf3\xa0\x81\xa1"                             \
  "日本語\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xef\xb8\x8f\n\r\tz"

static json_t *hostile_items(void) {
  return json_pack("{s:i, s:i, s:[{s:s, s:{s:s, s:s}, s:s, s:s, s:s}]}", "count", 1, "leased", 2,
                   "items", "id", "7", "kind", "source", HOSTILE, "name", HOSTILE, "level", HOSTILE,
                   "message", HOSTILE, "time", "never");
}

static struct top hostile_top(void) {
  struct top top = new_top();
  top_take_sessions(&top,
                    json_pack("{s:i, s:[{s:s, s:s, s:s, s:i, s:b, s:s, s:s}]}", "total", 1,
                              "sessions", "session", HOSTILE, "cwd", HOSTILE HOSTILE, "host",
                              HOSTILE, "pid", 7, "alive", 1, "machine", HOSTILE, "state", HOSTILE));
  top_take_items(&top,
                 json_pack("{s:i, s:[{s:s, s:i, s:s, s:s, s:s}]}", "count", 1, "messages", "id",
                           HOSTILE, "place", 1, "state", HOSTILE, "delivery", "queue", "content",
                           HOSTILE HOSTILE),
                 hostile_items());
  top_note(&top, "%s", HOSTILE);
  return top;
}

static void expect_printable(const struct cell *cell) {
  const struct tidings_span text = span_of(cell->text, cell->len);
  int columns = 0;
  for (size_t at = 0; at < text.len;) {
    uint32_t code_point = 0;
    size_t len = utf8_decode(text, at, &code_point);
    cr_assert(len, "UTF-8");
    cr_assert_not(utf8_is_deceptive(code_point), "U+%04X", code_point);
    columns += wcwidth((wchar_t)code_point);
    at += len;
  }
  cr_assert_eq(columns, cell->width);
}

/* The terminal's text takes as many columns as there are. */
static void expect_sound(const struct grid *grid) {
  for (size_t row = 0; row < grid->rows; row++) {
    size_t columns = 0;
    for (size_t i = 0; i < grid->columns; i++) {
      const struct cell *cell = &grid->cells[row * grid->columns + i];
      expect_printable(cell);
      cr_assert(cell->len <= sizeof cell->text);
      cr_assert(cell->width || (i && cell[-1].width == 2), "an empty cell is part of a wide one");
      columns += cell->width;
    }
    cr_assert_eq(columns, grid->columns);
  }
  cr_assert(!grid->cursor ||
            (grid->cursor_row < grid->rows && grid->cursor_column < grid->columns));
}

static void expect_all_sizes(struct top *top) {
  for (size_t rows = 0; rows < 30; rows += rows < 12 ? 1 : 9) {
    for (size_t columns = 0; columns<140; columns += columns> 50 && columns < 90 ? 1 : 13) {
      struct grid grid = drawn(top, rows, columns);
      expect_sound(&grid);
      grid_free(&grid);
    }
  }
}

Test(top_draw, every_size_and_hostile_text) {
  struct top top = hostile_top();
  expect_all_sizes(&top);
  press_all(&top, "\tx");
  top.explanation = strdup(HOSTILE);
  expect_all_sizes(&top);
  press_all(&top, "q");
  press_all(&top, "e");
  expect_all_sizes(&top);
  for (size_t i = 0; i < 50; i++) {
    top_key(&top, KEY_IS_LEFT);
    struct grid grid = drawn(&top, 24, 60);
    expect_sound(&grid);
    grid_free(&grid);
  }
  press_all(&top, "\x1b"
                  "c");
  cr_assert_eq(top.mode, MODE_CANCEL);
  expect_all_sizes(&top);
  top_finish(&top);
}

Test(top_draw, it_says_that_it_is_too_small) {
  struct top top = new_top();
  cr_expect(strstr(screen_of(&top, 9, 80), "needs 56 columns and 10 rows; here are 80 and 9"));
  cr_expect(strstr(screen_of(&top, 24, 55), "needs 56 columns and 10 rows; here are"));
  cr_expect(strstr(screen_of(&top, 10, 56), "No space is") == NULL, "it is cut");
  cr_expect(strstr(screen_of(&top, 10, 56), "Queue: 2 messages"));
  top_finish(&top);
}

/* A text stays within its columns, whether it is cut or not. */
Test(top_draw, text_stays_in_its_columns) {
  struct top top = new_top(); /* the locale */
  for (size_t end = 0; end < 70; end++) {
    struct grid grid;
    cr_assert_not(grid_make(1, 80, &grid));
    size_t after = grid_text(&grid, 0, 3, end, STYLE_BOLD, HOSTILE);
    cr_expect(after <= (end > 3 ? end : 3), "%zu of %zu", after, end);
    for (size_t i = 0; i < 80; i++) {
      bool inside = i >= 3 && i < after;
      cr_expect_eq(grid.cells[i].style == STYLE_BOLD, inside, "%zu of %zu", i, end);
    }
    expect_sound(&grid);
    grid_free(&grid);
  }
  top_finish(&top);
}

/* -- single things ----------------------------------------------------------------------------- */

Test(top_draw, what_is_chosen_is_seen) {
  struct top top = new_top();
  struct grid grid = drawn(&top, 24, 80);
  cr_expect_eq(grid.cells[(size_t)2 * 80].style, STYLE_CHOSEN);
  cr_expect_eq(grid.cells[(size_t)6 * 80].style, STYLE_MARKED);
  cr_expect_eq(grid.cells[(size_t)11 * 80 + 25].style, STYLE_CRITICAL);
  grid_free(&grid);
  press_all(&top, "\t");
  for (size_t i = 0; i < 4; i++) top_key(&top, KEY_IS_DOWN);
  for (size_t rows = TOP_LEAST_ROWS; rows < 24; rows++)
    cr_expect(strstr(screen_of(&top, rows, 80), "No space is left"), "at %zu rows", rows);
  top_finish(&top);
}

Test(top_draw, a_damaged_session_says_so) {
  struct top top = new_top();
  top_take_sessions(&top, json_of("{'total': 2, 'sessions': ["
                                  " {'session': 'ended', 'alive': false, 'state': 'idle'},"
                                  " {'session': 'broken', 'alive': false, 'state': 'damaged'}]}"));
  const char *screen = screen_of(&top, 24, 80), *ended = strstr(screen, "ended "),
             *broken = strstr(screen, "broken ");
  cr_assert(ended && broken && ended < broken);
  const char *state = strstr(ended, "not running");
  cr_expect(state && state < broken, "%s", screen);
  state = strstr(broken, "damaged");
  cr_expect(state && !memchr(broken, '\n', (size_t)(state - broken)), "%s", screen);
  top_finish(&top);
}

Test(top_draw, long_texts_are_scrolled) {
  struct top top = new_top();
  press_all(&top, "\tx");
  free(top.explanation);
  top.explanation = calloc(1, 4001);
  memset(top.explanation, 'x', 4000);
  memcpy(top.explanation + 3997, "END", 3);
  cr_expect_null(strstr(screen_of(&top, 24, 80), "END"));
  for (size_t i = 0; i < 100; i++) {
    top_key(&top, KEY_IS_PAGE_DOWN);
    screen_of(&top, 24, 80);
  }
  cr_expect(strstr(screen_of(&top, 24, 80), "END"), "%s", screen_of(&top, 24, 80));
  top_key(&top, KEY_IS_HOME);
  cr_expect_null(strstr(screen_of(&top, 24, 80), "END"));
  top_finish(&top);
}

Test(top_draw, ages_say_when_they_change) {
  static const struct {
    int64_t ago_ms;
    const char *text;
    int64_t in_ms;
  } ages[] = {{0, "0s", 1000},          {59999, "59s", 1},
              {60000, "1m", 60000},     {3599999, "59m", 1},
              {7200000, "2h", 3600000}, {86400000, "1d", 86400000},
              {-5000, "0s", 6000},      {INT64_C(999) * 86400000 * 2, "999d", 86400000}};
  for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
    struct age age = ages_since(NOW_MS - ages[i].ago_ms, NOW_MS);
    cr_expect_str_eq(age.text, ages[i].text);
    cr_expect_eq(age.until_ms - NOW_MS, ages[i].in_ms, "%s", ages[i].text);
  }
  cr_expect_str_eq(ages_since(0, NOW_MS).text, "");
  cr_expect_eq(ages_since(0, NOW_MS).until_ms, 0);
  cr_expect_eq(ages_read("2026-01-02T00:00:00.250Z"), NOW_MS + 250);
  cr_expect_eq(ages_read("yesterday"), 0);
  struct top top = new_top();
  struct grid grid = drawn(&top, 24, 80);
  cr_expect_eq(top_draw(&top, NOW_MS, "", &grid), NOW_MS + 500, "the youngest, of 500 ms");
  top_take_items(&top, json_of("{'count': 0, 'messages': []}"),
                 json_of("{'count': 0, 'items': []}"));
  top_take_sessions(&top, json_of("{'total': 1, 'sessions': [{'session': 's'}]}"));
  cr_expect_eq(top_draw(&top, NOW_MS, "", &grid), 0, "no age is shown");
  grid_free(&grid);
  top_finish(&top);
}
