/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_purge.c: all rows of a closed session are deleted; its name is deleted last,
 * when no process can still remember the session's number.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"
#include "kit_rows.h"
#include "store/rows/rows.h"

TestSuite(purge, .init = kit_begin, .fini = kit_end);

static const int64_t DAY = 86400000, HOUR = 3600001;

static void close_well(struct tidings_plugin *plugin, const char *session) {
  struct tidings_error error = new_error();
  cr_assert_eq(event(plugin, &error, "{\"type\":\"session.closed\",\"session\":\"%s\",\"data\":{}}",
                     session),
               0, "%s", error.text);
}

/* A delivery in another session is an occasion to forget. */
static void use(struct tidings_plugin *plugin, const char *session, int times) {
  for (int i = 0; i < times; i++) {
    push(plugin, session, "x");
    expect_got(tool_result(plugin, session), "x");
    kit_now_ms += HOUR;
  }
}

static size_t rows_left(struct store *store, uint32_t session) {
  size_t count = 0;
  for (int kind = ROW_ITEM; kind < 32; kind++)
    count += rows_in(store, session, (enum row_kind)kind);
  return count;
}

static struct tidings_plugin *open_plugin(void) {
  return plugin_at(kit_store, (struct plugin_words){.settle_on_return = 1});
}

/* Some of everything. */
static void live_and_close(struct tidings_plugin *plugin, const char *session) {
  struct tidings_error error = new_error();
  for (int i = 0; i < 30; i++) push(plugin, session, "x");
  cr_assert_eq(tool_result(plugin, session).code, 0);
  for (int i = 0; i < 100; i++) push(plugin, session, "never delivered");
  cr_assert_eq(event(plugin, &error,
                     "{\"type\":\"budget.usage\",\"session\":\"%s\",\"id\":\"1\",\"data\":{"
                     "\"used\":80,\"limit\":100}}",
                     session),
               0);
  cr_assert_eq(event(plugin, &error,
                     "{\"type\":\"message.submitted\",\"session\":\"%s\",\"data\":{\"id\":\"m0\","
                     "\"content\":\"x\"}}",
                     session),
               0, "%s", error.text);
  close_well(plugin, session);
}

Test(purge, a_closed_session_goes_after_a_day_in_small_steps) {
  struct tidings_plugin *plugin = open_plugin();
  struct store *store = store_of(plugin);
  kit_now_ms = DAY;
  live_and_close(plugin, "s");
  size_t outlines = rows_in(store, 1, ROW_OUTLINES); /* they are for what waits */
  size_t rows = rows_left(store, 1) - outlines;
  cr_assert_gt(rows, 130);
  kit_now_ms += DAY;
  use(plugin, "t", 1);
  cr_expect_eq(rows_left(store, 1), rows, "for a day it can be asked about: %zu of %zu",
               rows_left(store, 1), rows);
  use(plugin, "t", 1);
  cr_expect_lt(rows_left(store, 1), rows);
  cr_expect_geq(rows_left(store, 1), rows - 64, "a settle on return is one commit");
  use(plugin, "t", 6);
  cr_expect_eq(rows_left(store, 1), 0, "%zu", rows_left(store, 1));
  cr_expect_eq(rows_in(store, 1, ROW_HEAD), 1,
               "its head and its name stay: this process knows its number");
  cr_expect_eq(number_of(store, "s"), 1);
  /* So this process can use the session again, and no number is given out twice. */
  push(plugin, "s", "again");
  cr_expect_eq(last_of(store, "s"), 132);
  expect_got(tool_result(plugin, "s"), "again");
  plugin_end(plugin);
}

Test(purge, its_name_goes_when_somebody_opens_the_store_alone) {
  struct tidings_plugin *plugin = open_plugin();
  kit_now_ms = DAY;
  live_and_close(plugin, "s");
  kit_now_ms += 2 * DAY;
  use(plugin, "t", 8);
  plugin_end(plugin);
  plugin = open_plugin();
  struct store *store = store_of(plugin);
  cr_expect_eq(number_of(store, "s"), 0);
  cr_expect_eq(rows_in(store, 1, ROW_HEAD), 0);
  cr_expect_neq(number_of(store, "t"), 0);
  push(plugin, "s", "anew");
  cr_expect_gt(number_of(store, "s"), number_of(store, "t"), "its number is another");
  expect_got(tool_result(plugin, "s"), "anew");
  use(plugin, "t", 2);
  plugin_end(plugin);
}

static int keep_open(struct child *self, void *context) {
  struct store_options options = {
      .directory = context, .create_budget_ms = KIT_BUDGET_MS, .now_ms = 4 * DAY};
  struct store *store;
  child_await_test(self);
  if (store_open(&options, &store, NULL)) return 1;
  child_signal_test(self);
  child_await_test(self);
  store_close(store);
  return 0;
}

Test(purge, its_name_stays_while_another_process_has_the_store_open) {
  struct child other = child_start(keep_open, kit_store);
  struct tidings_plugin *plugin = open_plugin();
  kit_now_ms = DAY;
  live_and_close(plugin, "s");
  kit_now_ms += 2 * DAY;
  use(plugin, "t", 8);
  child_signal(&other);
  child_await(&other);
  plugin_end(plugin);
  plugin = open_plugin();
  cr_expect_eq(number_of(store_of(plugin), "s"), 1);
  plugin_end(plugin);
  child_signal(&other);
  cr_expect_eq(child_wait(&other), 0);
  plugin = open_plugin();
  cr_expect_eq(number_of(store_of(plugin), "s"), 0);
  plugin_end(plugin);
}

Test(purge, what_came_after_the_close_is_delivered_and_keeps_the_session) {
  struct tidings_plugin *plugin = open_plugin();
  struct store *store = store_of(plugin);
  kit_now_ms = DAY;
  live_and_close(plugin, "s");
  push(plugin, "s", "late");
  kit_now_ms += 40 * DAY;
  use(plugin, "t", 10);
  cr_expect_eq(pending_in(store, "s"), 1);
  plugin_end(plugin);
  plugin = open_plugin();
  expect_got(tool_result(plugin, "s"), "late");
  /* The session is used again, so it is not closed any more, and its items are kept like those of
   * any session. */
  use(plugin, "t", 4);
  cr_expect_geq(items_in(store_of(plugin), "s"), 1);
  plugin_end(plugin);
}

/* A sender need not be the session's host. */
Test(purge, a_message_that_came_after_the_close_stays_with_its_content) {
  struct tidings_plugin *plugin = open_plugin();
  struct tidings_error error = new_error();
  kit_now_ms = DAY;
  live_and_close(plugin, "s");
  plugin_end(plugin);
  plugin = plugin_at(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER});
  cr_assert_eq(event(plugin, &error,
                     "{\"type\":\"message.submitted\",\"session\":\"s\",\"data\":{\"id\":\"m1\","
                     "\"content\":\"hello\"}}"),
               0, "%s", error.text);
  plugin_end(plugin);
  plugin = open_plugin();
  kit_now_ms += 40 * DAY;
  use(plugin, "t", 10);
  plugin_end(plugin);
  plugin = open_plugin();
  struct store *store = store_of(plugin);
  cr_assert_eq(number_of(store, "s"), 1);
  cr_expect_eq(rows_in(store, 1, ROW_MESSAGE), 1);
  cr_expect_eq(rows_in(store, 1, ROW_CONTENT), 1);
  cr_expect_eq(rows_in(store, 1, ROW_MESSAGE_ID), 1);
  plugin_end(plugin);
}

Test(purge, ids_of_a_closed_session_are_known_as_long_as_was_promised) {
  struct tidings_plugin *plugin = plugin_at(
      kit_store,
      (struct plugin_words){.settle_on_return = 1,
                            .configuration = "{\"limits\":{\"dedup_window_ms\":864000000}}"});
  struct store *store = store_of(plugin);
  kit_now_ms = DAY;
  live_and_close(plugin, "s");
  kit_now_ms += 2 * DAY;
  use(plugin, "t", 8);
  cr_expect_eq(rows_left(store, 1), 1);
  cr_expect_eq(rows_in(store, 1, ROW_DEDUP), 1);
  plugin_end(plugin);
  plugin = open_plugin();
  store = store_of(plugin);
  cr_expect_eq(number_of(store, "s"), 1);
  kit_now_ms += 10 * DAY;
  use(plugin, "t", 3);
  cr_expect_eq(rows_left(store, 1), 0);
  plugin_end(plugin);
  plugin_end(open_plugin());
  plugin = open_plugin();
  cr_expect_eq(number_of(store_of(plugin), "s"), 0);
  plugin_end(plugin);
}

Test(purge, many_are_purged_some_at_a_time) {
  enum { MANY = 150 };
  struct tidings_plugin *plugin = open_plugin();
  char name[16];
  size_t left = MANY;
  kit_now_ms = DAY;
  for (int i = 0; i < MANY; i++) {
    (void)snprintf(name, sizeof name, "s%d", i);
    push(plugin, name, "x");
    close_well(plugin, name);
  }
  kit_now_ms += 2 * DAY;
  use(plugin, "t", 60);
  for (int i = 0; i < 3; i++) {
    cr_expect_eq(rows_in(store_of(plugin), 0, ROW_NAME), left + 1, "%zu",
                 rows_in(store_of(plugin), 0, ROW_NAME));
    plugin_end(plugin);
    plugin = open_plugin();
    left -= left < 64 ? left : 64;
  }
  cr_expect_eq(rows_in(store_of(plugin), 0, ROW_NAME), 1);
  plugin_end(plugin);
}

/* If two names have the same hash, the second is found after the first. */
Test(purge, a_name_with_another_after_it_stays) {
  struct tidings_plugin *plugin = open_plugin();
  struct store *store = store_of(plugin);
  struct tidings_error error = new_error();
  struct store_txn *txn;
  kit_now_ms = DAY;
  push(plugin, "s", "x");
  close_well(plugin, "s");
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  struct db_cursor cursor;
  struct db_key from = row_key(0, ROW_NAME, 0);
  cr_assert_eq(db_cursor_open(txn->db, &cursor), 0);
  cr_assert_eq(db_cursor_seek(&cursor, &from), 0);
  struct db_key behind = row_key(0, ROW_NAME, row_key_n(cursor.key) + 1);
  db_cursor_close(&cursor);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_u64(&body, 999);
  record_bytes(&body, span_text("another"));
  cr_assert_eq(row_put(txn, &behind, &body, &error), 0);
  buffer_free(&body);
  cr_assert_eq(store_commit(txn, &error), 0);
  kit_now_ms += 2 * DAY;
  use(plugin, "t", 8);
  plugin_end(plugin);
  plugin = open_plugin();
  cr_expect_eq(number_of(store_of(plugin), "s"), 1);
  plugin_end(plugin);
}
