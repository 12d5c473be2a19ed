/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_rate.c: the limit of a source's pushes in a minute is counted in the store, for
 * all processes together, and old counts are forgotten.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "kit.h"
#include "kit_rows.h"

TestSuite(rate, .init = kit_begin, .fini = kit_end);

enum { MINUTE = 60000, START = 1000000 };

static int push_from(struct store *store, const char *source, int64_t now_ms, uint32_t limit,
                     struct tidings_error *error) {
  const struct notification note = {.source = span_text(source), .message = span_text("m")};
  const struct push push = {.session = span_text("s"),
                            .note = &note,
                            .now_ms = now_ms,
                            .pending_limit = 10000,
                            .source_per_minute = limit};
  bool duplicate = false;
  return store_push(store, &push, store_deadline_in(KIT_BUDGET_MS), &duplicate, NULL, error);
}

static int push_in_child(struct child *self, void *context) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  (void)self;
  (void)context;
  int code = push_from(store, "ci", START, 3, &error);
  store_close(store);
  return code == TIDINGS_E_FULL ? 77 : code ? 1 : 0;
}

Test(rate, is_counted_across_processes) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  cr_assert_eq(push_from(store, "ci", START, 3, &error), 0, "%s", error.text);
  for (int i = 0; i < 4; i++) {
    struct child child = child_start(push_in_child, NULL);
    cr_assert_eq(child_wait(&child), i < 2 ? 0 : 77, "%d", i);
  }
  cr_assert_eq(push_from(store, "ci", START + MINUTE - 1, 3, &error), TIDINGS_E_FULL);
  cr_assert(strstr(error.text, "wait 1 s"), "%s", error.text);
  cr_assert_eq(last_of(store, "s"), 3);
  cr_assert_eq(push_from(store, "ci", START + MINUTE, 3, &error), 0, "%s", error.text);
  store_close(store);
}

Test(rate, without_a_limit_nothing_is_counted) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  for (int i = 0; i < 5; i++) cr_assert_eq(push_from(store, "ci", START, 0, &error), 0);
  cr_assert_eq(rows_in(store, 1, ROW_RATE), 0);
  cr_assert_eq(push_from(store, "ci", START, 1, &error), 0, "%s", error.text);
  cr_assert_eq(rows_in(store, 1, ROW_RATE), 1);
  cr_assert_eq(push_from(store, "ci", START, 1, &error), TIDINGS_E_FULL);
  cr_assert_eq(push_from(store, "ci", START, 2, &error), 0, "a higher limit has room");
  cr_assert_eq(push_from(store, "ci", START, 0, &error), 0);
  store_close(store);
}

/* Twenty new sources a minute for half an hour: old counts are forgotten as new ones are added. */
Test(rate, sources_of_the_past_do_not_pile_up) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  char name[32];
  for (int i = 0; i < 600; i++) {
    (void)snprintf(name, sizeof name, "source%d", i);
    cr_assert_eq(push_from(store, name, START + (int64_t)i * MINUTE / 20, 1, &error), 0);
    cr_assert_eq(push_from(store, name, START + (int64_t)i * MINUTE / 20, 1, &error),
                 TIDINGS_E_FULL);
  }
  cr_assert_geq(rows_in(store, 1, ROW_RATE), 20);
  cr_assert_leq(rows_in(store, 1, ROW_RATE), 120, "%zu", rows_in(store, 1, ROW_RATE));
  store_close(store);
}

static void damage_first_row(struct store *store) {
  struct tidings_error error = new_error();
  struct db_key from = row_key(1, ROW_RATE, 0), key;
  struct store_txn *txn;
  struct db_cursor cursor;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(db_cursor_open(txn->db, &cursor), 0);
  cr_assert_eq(db_cursor_seek(&cursor, &from), 0);
  cr_assert(row_key_is_like(cursor.key, &from));
  memcpy(key.bytes, cursor.key, sizeof key.bytes);
  db_cursor_close(&cursor);
  cr_assert_eq(db_put(txn->db, &key, span_text("damaged")), 0);
  cr_assert_eq(store_commit(txn, &error), 0, "%s", error.text);
}

/* A row that cannot be read counts nothing, and blocks no push. */
Test(rate, a_damaged_row_counts_nothing) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  cr_assert_eq(push_from(store, "ci", START, 1, &error), 0);
  cr_assert_eq(push_from(store, "ci", START, 1, &error), TIDINGS_E_FULL);
  damage_first_row(store);
  cr_assert_eq(push_from(store, "ci", START, 1, &error), 0, "%s", error.text);
  cr_assert_eq(push_from(store, "ci", START, 1, &error), TIDINGS_E_FULL);
  store_close(store);
}
