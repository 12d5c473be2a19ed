/* SPDX-License-Identifier: MIT
 *
 * top_kit.h: what the tests of `tidings top` share: answers, keys, and the screen as text.
 */
#ifndef TESTS_UNIT_TOP_TOP_KIT_H
#define TESTS_UNIT_TOP_TOP_KIT_H

#include "cli/top/actions.h"
#include "cli/top/draw.h"

enum { NOW_S = 1767312000 }; /* 2026-01-02T00:00:00Z */
#define NOW_MS (NOW_S * (int64_t)1000)

/* JSON with ' in place of ". */
json_t *json_of(const char *quoted);

/* Two sessions; the first one is chosen, and has two messages and three notifications. */
struct top new_top(void);
/* The same queue and notifications of the first session, but for these messages. */
void take_messages(struct top *top, const char *messages);

/* Presses keys one by one. Fails the test if one of them but the last wants more than to be
 * drawn. */
struct top_action press_all(struct top *top, const char *keys);

/* The screen as lines without blanks at their ends, until the test's process ends. */
const char *screen_of(struct top *top, size_t rows, size_t columns);
struct grid drawn(struct top *top, size_t rows, size_t columns);
const char *grid_lines(const struct grid *grid);

#endif
