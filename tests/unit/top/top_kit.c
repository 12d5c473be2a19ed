/* SPDX-License-Identifier: MIT
 */
#include "top/top_kit.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"

/* clang-format off */
static const char sessions[] =
    "{'total': 2, 'sessions': ["
    " {'session': 'parser', 'cwd': '/srv/parser', 'host': 'claude', 'pid': 4711, 'alive': true,"
    "  'since': '2026-01-01T23:00:00.000Z', 'used': '2026-01-01T23:59:48.000Z', 'pending': 3,"
    "  'state': 'busy', 'queued': 2, 'by_level': {'info': 1, 'warning': 0, 'error': 1, 'critical': 1}},"
    " {'session': '5c1d2e9a-6f0b-4d0e-9a51-77f0c3a1b2d4', 'cwd': '/srv/lexer', 'host': 'codex',"
    "  'pid': 4242, 'alive': false, 'since': '2026-01-01T10:00:00.000Z', 'used': null,"
    "  'pending': 12345, 'state': 'idle', 'queued': 0,"
    "  'by_level': {'info': 12345, 'warning': 0, 'error': 0, 'critical': 0}}]}";
static const char queue[] =
    "{'count': 2, 'messages': ["
    " {'id': 'm-0b7e44335fd2a1c0', 'place': 1, 'state': 'queued', 'delivery': 'queue',"
    "  'queued_at': 1767311760000, 'content': 'Run the slow tests too.', 'trigger': null},"
    " {'id': 'm-5fd2a1c09b7e4433', 'place': 2, 'state': 'queued', 'delivery': 'queue',"
    "  'queued_at': 1767311999000, 'content': 'Review pull request 31.\\nThen merge it.', 'trigger': null}]}";
static const char pending[] =
    "{'count': 3, 'leased': 0, 'items': ["
    " {'id': '4294967297', 'kind': {'source': 'ci', 'name': 'failed'}, 'level': 'error',"
    "  'message': 'CI run 4812 failed on main.\\n\\n At 2026 it was delivered.', 'time': '2026-01-01T23:59:30.000Z'},"
    " {'id': '4294967298', 'kind': {'source': 'file', 'name': 'changed'}, 'level': 'info',"
    "  'message': '`src/lib.rs` was modified externally.', 'time': '2026-01-01T22:00:00.000Z'},"
    " {'id': '4294967299', 'kind': {'source': 'disk', 'name': 'full'}, 'level': 'critical',"
    "  'message': 'No space is left on /srv.', 'time': '2026-01-01T23:59:59.500Z'}]}";
/* clang-format on */

json_t *json_of(const char *quoted) {
  char *text = strdup(quoted);
  for (char *at = text; *at; at++)
    if (*at == '\'') *at = '"';
  json_t *value = json_loads(text, 0, NULL);
  cr_assert(value, "%s", text);
  free(text);
  return value;
}

struct top new_top(void) {
  struct top top = {.sessions = NULL};
  cr_assert(setlocale(LC_CTYPE, "C.UTF-8"), "the widths of characters");
  top_take_sessions(&top, json_of(sessions));
  top_take_items(&top, json_of(queue), json_of(pending));
  return top;
}

void take_messages(struct top *top, const char *messages) {
  json_t *list = json_of(messages);
  size_t count = json_array_size(list);
  top_take_items(top, json_pack("{s:i, s:o}", "count", (int)count, "messages", list),
                 json_of(pending));
}

struct top_action press_all(struct top *top, const char *keys) {
  struct top_action action = {.what = TOP_DRAW};
  for (; *keys; keys++) {
    cr_assert(action.what == TOP_DRAW || action.what == TOP_ASK_EXPLANATION);
    action = top_key(top, (unsigned char)*keys);
  }
  return action;
}

struct grid drawn(struct top *top, size_t rows, size_t columns) {
  struct grid grid;
  cr_assert_not(grid_make(rows, columns, &grid));
  top_draw(top, NOW_MS, "/var/lib/agents/state/tidings", &grid);
  return grid;
}

const char *grid_lines(const struct grid *grid) {
  struct buffer text = BUFFER_EMPTY;
  for (size_t row = 0; row < grid->rows; row++) {
    for (size_t i = 0; i < grid->columns; i++) {
      const struct cell *cell = &grid->cells[row * grid->columns + i];
      buffer_append(&text, cell->text, cell->len);
    }
    while (text.len && text.bytes[text.len - 1] == ' ') text.len--;
    buffer_byte(&text, '\n');
  }
  const char *lines = text_of(buffer_view(&text));
  buffer_free(&text);
  return lines;
}

const char *screen_of(struct top *top, size_t rows, size_t columns) {
  struct grid grid = drawn(top, rows, columns);
  const char *lines = grid_lines(&grid);
  grid_free(&grid);
  return lines;
}
