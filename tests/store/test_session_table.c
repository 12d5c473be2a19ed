/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_session_table.c: the table of the sessions that a process remembers grows, finds
 * sessions, and adds each once.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "instance/session_table.h"
#include "kit.h"

static const _Atomic uint32_t changes;

static struct tidings_span name(char *text, size_t size, unsigned i) {
  int len = snprintf(text, size, "%.*s session %u", (int)(i % 17), "aaaaaaaaaaaaaaaaaaaaa", i);
  return span_of(text, (size_t)len);
}

Test(session_table, empty) {
  struct session_table table;
  cr_assert_eq(session_table_init(&table), 0);
  cr_assert_null(session_table_find(&table, span_text("s")));
  cr_assert_null(session_table_find(&table, span_of(NULL, 0)));
  session_table_finish(&table);
}

Test(session_table, grows_and_keeps_what_it_has_where_it_is) {
  enum { MANY = 5000 };
  static struct session *sessions[MANY];
  struct session_table table;
  char text[64];
  cr_assert_eq(session_table_init(&table), 0);
  for (unsigned i = 0; i < MANY; i++) {
    struct tidings_span id = name(text, sizeof text, i);
    cr_assert_null(session_table_find(&table, id));
    sessions[i] = session_table_add(&table, id, i + 1, &changes);
    cr_assert_not_null(sessions[i]);
    memset(text, 'x', sizeof text); /* it must have copied the id */
    for (unsigned j = i % 7; j <= i; j += 97)
      cr_assert_eq(session_table_find(&table, name(text, sizeof text, j)), sessions[j]);
  }
  for (unsigned i = 0; i < MANY; i++) {
    struct tidings_span id = name(text, sizeof text, i);
    cr_assert_eq(session_table_find(&table, id), sessions[i]);
    cr_assert_eq(session_table_add(&table, id, 0, NULL), sessions[i], "added twice");
    cr_assert_eq(sessions[i]->number, i + 1);
    cr_assert_eq(sessions[i]->changes, &changes);
    cr_assert_eq(atomic_load(&sessions[i]->quiet), QUIET_UNKNOWN);
  }
  cr_assert_eq(table.count, MANY);
  session_table_finish(&table);
}

Test(session_table, ids_are_compared_whole) {
  static const char *const ids[] = {"a",
                                    "aa",
                                    "aaaaaaaa",
                                    "aaaaaaaab",
                                    "aaaaaaaa\x01",
                                    "baaaaaaa",
                                    "aaaaaaaaaaaaaaaa",
                                    "aaaaaaaaaaaaaaab"};
  enum { IDS = sizeof ids / sizeof *ids };
  struct session_table table;
  cr_assert_eq(session_table_init(&table), 0);
  for (unsigned i = 0; i < IDS; i++)
    cr_assert_not_null(session_table_add(&table, span_text(ids[i]), i + 1, &changes));
  for (unsigned i = 0; i < IDS; i++)
    cr_assert_eq(session_table_find(&table, span_text(ids[i]))->number, i + 1, "%s", ids[i]);
  cr_assert_null(session_table_find(&table, span_text("aaa")));
  cr_assert_null(session_table_find(&table, span_of("a\0", 2)));
  session_table_finish(&table);
}
