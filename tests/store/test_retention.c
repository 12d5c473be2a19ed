/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_retention.c: tests which rows are forgotten and which never are, and that
 * damaged rows do not make the whole session unusable.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"
#include "kit_rows.h"
#include "store/rows/rows.h"

TestSuite(retention, .init = kit_begin, .fini = kit_end);
TestSuite(damage, .init = kit_begin, .fini = kit_end);

static const int64_t DAY = 86400000;

/* Overwrites a row with bytes that no checksum fits; or takes it away. */
static void spoil(struct store *store, enum row_kind kind, uint64_t n, bool remove) {
  struct tidings_error error = new_error();
  struct db_key key = row_key(1, kind, n);
  struct store_txn *txn;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(remove ? db_delete(txn->db, &key) : db_put(txn->db, &key, span_text("spoil")), 0);
  cr_assert_eq(db_touch(txn->db, 1), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
}

static void sweep_after(struct store *store, int64_t now_ms, size_t limit,
                        const struct disposition_range *ended, size_t count) {
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn;
  struct head head;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(head_get(txn, 1, &arena, &head, &error), 0);
  cr_assert_eq(retention_step(txn, 1, &head, now_ms, limit, ended, count, &error), 0, "%s",
               error.text);
  cr_assert_eq(head_put(txn, 1, &head, &error), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
  arena_free(&arena);
}

static void sweep(struct store *store, int64_t now_ms, size_t limit) {
  sweep_after(store, now_ms, limit, NULL, 0);
}

Test(retention, the_newest_ten_thousand_stay) {
  struct store *store = store_at(kit_store);
  fill_items(store, "s", 1, 10300, 0);
  deliver_items(store, 1, 1, 1, 200, true, 0);
  deliver_items(store, 1, 2, 201, 10300, true, 0);
  sweep(store, 0, 100);
  cr_assert_eq(items_in(store, "s"), 10200, "at most so many rows a step: %zu",
               items_in(store, "s"));
  cr_assert_eq(deliveries_in(store, "s"), 2);
  sweep(store, 0, 1000);
  cr_assert_eq(items_in(store, "s"), 10000);
  cr_assert_eq(deliveries_in(store, "s"), 1, "a delivery goes with the last of its items");
  cr_assert_eq(last_of(store, "s"), 10300);
  store_close(store);
}

Test(retention, pending_and_leased_items_stay_however_many_or_old) {
  struct store *store = store_at(kit_store);
  fill_items(store, "s", 1, 12000, 0);
  sweep(store, 400 * DAY, 100000);
  cr_assert_eq(items_in(store, "s"), 12000, "all are pending");
  deliver_items(store, 1, 1, 1, 500, false, 0);
  deliver_items(store, 1, 2, 501, 12000, true, 0);
  sweep(store, 400 * DAY, 100000);
  cr_assert_eq(items_in(store, "s"), 501, "what is leased, and the newest");
  cr_assert_eq(deliveries_in(store, "s"), 2);
  store_close(store);
}

Test(retention, after_thirty_days_and_numbers_never_return) {
  struct store *store = store_at(kit_store);
  fill_items(store, "s", 1, 10, 0);
  deliver_items(store, 1, 1, 1, 10, true, 0);
  sweep(store, 30 * DAY, 1000);
  cr_assert_eq(items_in(store, "s"), 10, "thirty days are not over");
  sweep(store, 30 * DAY + 1, 1000);
  cr_assert_leq(items_in(store, "s"), 1);
  cr_assert_eq(last_of(store, "s"), 10);
  say_well(store, "s", "eleven");
  cr_assert_eq(last_of(store, "s"), 11);
  cr_assert_eq(pending_in(store, "s"), 1);
  store_close(store);
}

/* An item that is never shown, because it is always over the cap, must not make the store keep all
 * later items. */
Test(retention, what_ended_behind_a_pending_item_is_forgotten_too) {
  struct store *store = store_at(kit_store);
  fill_items(store, "s", 1, 12000, 0);
  deliver_items(store, 1, 1, 2, 500, true, 0);
  deliver_items(store, 1, 2, 502, 1500, true, 0);
  deliver_items(store, 1, 3, 1501, 1600, false, 0);
  deliver_items(store, 1, 4, 1601, 12000, true, 0);
  sweep(store, 0, 100000);
  cr_assert_eq(pending_in(store, "s"), 2, "1 and 501");
  cr_assert_eq(items_in(store, "s"), 2 + 100 + 10000, "%zu", items_in(store, "s"));
  cr_assert_eq(deliveries_in(store, "s"), 2, "%zu", deliveries_in(store, "s"));
  sweep(store, 31 * DAY, 100000);
  cr_assert_eq(items_in(store, "s"), 2 + 100 + 1, "%zu", items_in(store, "s"));
  cr_assert_eq(pending_in(store, "s"), 2);
  cr_assert_eq(last_of(store, "s"), 12000);
  store_close(store);
}

/* An item without a delivery, whose row is lost, is as old as its push. */
Test(retention, thirty_days_count_from_the_end_of_an_item) {
  struct store *store = store_at(kit_store);
  fill_items(store, "s", 1, 20, 0);
  deliver_items(store, 1, 1, 5, 20, true, DAY);
  deliver_items(store, 1, 2, 1, 4, true, 35 * DAY);
  sweep(store, 65 * DAY, 1000);
  cr_assert_eq(items_in(store, "s"), 4 + 1, "%zu", items_in(store, "s"));
  sweep(store, 65 * DAY + 1, 1000);
  cr_assert_eq(items_in(store, "s"), 1, "%zu", items_in(store, "s"));
  fill_items(store, "s", 21, 30, 70 * DAY);
  deliver_items(store, 1, 3, 21, 30, true, 70 * DAY);
  spoil(store, ROW_DELIVERY, 3, true);
  sweep(store, 100 * DAY, 1000);
  cr_assert_eq(items_in(store, "s"), 10, "%zu", items_in(store, "s"));
  sweep(store, 100 * DAY + 1, 1000);
  cr_assert_eq(items_in(store, "s"), 1, "%zu", items_in(store, "s"));
  store_close(store);
}

Test(retention, what_ends_in_the_same_write_stays) {
  static const struct disposition_range range = {.first = 2, .last = 100};
  struct store *store = store_at(kit_store);
  fill_items(store, "s", 1, 10300, 0);
  deliver_items(store, 1, 1, 1, 10300, true, 0);
  sweep_after(store, 0, 1000, &range, 1);
  cr_assert_eq(items_in(store, "s"), 10000 + 99, "%zu", items_in(store, "s"));
  sweep(store, 0, 1000);
  cr_assert_eq(items_in(store, "s"), 10000, "%zu", items_in(store, "s"));
  store_close(store);
}

/* Items in no range are pending: the first, the last and those in between. */
Test(retention, pending_is_what_lies_between_what_is_taken) {
  static const uint64_t expected[] = {1, 2, 6, 11, 12, 20};
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct item *items;
  struct store_txn *txn;
  struct head head;
  size_t count;
  fill_items(store, "s", 1, 20, 0);
  deliver_items(store, 1, 1, 3, 5, true, 0);
  deliver_items(store, 1, 2, 7, 10, false, 0);
  deliver_items(store, 1, 3, 13, 18, true, 0);
  deliver_items(store, 1, 4, 19, 19, false, 0);
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(head_get(txn, 1, &arena, &head, &error), 0);
  cr_assert_eq(item_pending(txn, 1, &head, &arena, &items, &count, &error), 0);
  store_end(txn);
  cr_assert_eq(count, sizeof expected / sizeof *expected);
  for (size_t i = 0; i < count; i++) cr_assert_eq(items[i].n, expected[i]);
  arena_free(&arena);
  store_close(store);
}

/* Even if the newest item's row is gone, its number is not given out again. */
Test(retention, the_floor_holds_without_any_item) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct store_txn *txn;
  fill_items(store, "s", 1, 5, 0);
  deliver_items(store, 1, 1, 1, 5, true, 0);
  sweep(store, 0, 10);
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  for (uint64_t n = 1; n <= 5; n++) {
    struct db_key key = row_key(1, ROW_ITEM, n);
    cr_assert_eq(db_delete(txn->db, &key), 0);
  }
  cr_assert_eq(store_commit(txn, &error), 0);
  say_well(store, "s", "six");
  cr_assert_eq(last_of(store, "s"), 6);
  cr_assert_eq(pending_in(store, "s"), 1);
  store_close(store);
}

/* -- dedup rows -------------------------------------------------------------------------------- */

Test(retention, old_ids_are_forgotten_and_new_ones_are_not) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  char id[16];
  for (int i = 0; i < 100; i++) {
    (void)snprintf(id, sizeof id, "%d", i);
    cr_assert_eq(say(store, (struct said){.source = "p", .id = id, .now_ms = i < 60 ? 1 : 2 * DAY},
                     NULL, &error),
                 0);
  }
  cr_assert_eq(rows_in(store, 1, ROW_DEDUP), 100);
  for (int i = 0; i < 20; i++) sweep(store, 2 * DAY, 10);
  cr_assert_eq(rows_in(store, 1, ROW_DEDUP), 40, "%zu", rows_in(store, 1, ROW_DEDUP));
  bool duplicate = false;
  cr_assert_eq(
      say(store, (struct said){.source = "p", .id = "99", .now_ms = 2 * DAY}, &duplicate, &error),
      0);
  cr_assert(duplicate);
  for (int i = 0; i < 20; i++) sweep(store, 4 * DAY, 10);
  cr_assert_eq(rows_in(store, 1, ROW_DEDUP), 0);
  store_close(store);
}

/* A settle looks at as many ids as items that it ends, otherwise the ids of a session that ends
 * many at once would accumulate. */
Test(retention, a_settle_of_many_items_looks_at_as_many_ids) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  char id[16];
  for (int i = 0; i < 200; i++) {
    (void)snprintf(id, sizeof id, "%d", i);
    cr_assert_eq(say(store, (struct said){.source = "p", .id = id, .now_ms = 1}, NULL, &error), 0);
  }
  sweep(store, 2 * DAY, 150);
  cr_assert_eq(rows_in(store, 1, ROW_DEDUP), 50, "%zu", rows_in(store, 1, ROW_DEDUP));
  store_close(store);
}

/* A clock that was far ahead, and was corrected, must not make an id count as seen for longer than
 * the window. */
Test(retention, an_id_of_a_clock_that_was_ahead_is_not_seen) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct said said = {.source = "p", .id = "1", .now_ms = 12 * DAY};
  bool duplicate = true;
  cr_assert_eq(say(store, said, NULL, &error), 0);
  said.now_ms = 11 * DAY;
  cr_assert_eq(say(store, said, &duplicate, &error), 0);
  cr_assert(duplicate, "it is within the window");
  said.now_ms = 11 * DAY - 1;
  cr_assert_eq(say(store, said, &duplicate, &error), 0);
  cr_assert_not(duplicate);
  sweep(store, 10 * DAY - 2, 10);
  cr_assert_eq(rows_in(store, 1, ROW_DEDUP), 0);
  store_close(store);
}

/* -- a long life through the plugin ------------------------------------------------------------ */

Test(retention, one_item_that_is_never_shown_does_not_keep_all_others) {
  struct tidings_plugin *plugin = plugin_at(
      kit_store, (struct plugin_words){
                     .settle_on_return = 1,
                     .configuration = "{\"delivery\":{\"max_items\":1,\"order\":\"newest\"}}"});
  push(plugin, "s", "never the newest");
  for (int i = 0; i < 50; i++) {
    push(plugin, "s", "newer");
    expect_got(tool_result(plugin, "s"), "newer");
  }
  cr_assert_eq(pending_in(store_of(plugin), "s"), 1);
  plugin_end(plugin);
}

/* -- rows that went bad ------------------------------------------------------------------------ */

Test(damage, a_damaged_item_is_dropped_and_the_others_are_told) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_error error = new_error();
  push(plugin, "s", "one");
  push(plugin, "s", "two");
  push(plugin, "s", "three");
  spoil(store_of(plugin), ROW_ITEM, 2, false);
  struct got got = tool_result(plugin, "s");
  expect_got(got, "one|three");
  cr_assert_eq(settle_as(plugin, got.delivery, TIDINGS_COMMITTED, &error), 0);
  struct arena arena = ARENA_EMPTY;
  struct head head = head_of(store_of(plugin), "s", &arena);
  cr_assert_eq(head.outcomes[OUTCOME_DROPPED], 1);
  cr_assert_eq(head.watermark, 4);
  arena_free(&arena);
  free(ask(plugin, "{\"name\":\"history\",\"session\":\"s\"}"));
  free(ask(plugin, "{\"name\":\"stats\",\"session\":\"s\"}"));
  free(ask(plugin, "{\"name\":\"stream\",\"session\":\"s\"}"));
  char *explanation = ask(plugin, "{\"name\":\"explain\",\"session\":\"s\",\"id\":\"4294967298\"}");
  cr_expect(strstr(explanation, "\"outcome\":\"dropped\"") &&
                strstr(explanation, "\"text\":\"The record of this notification in the store is "
                                    "damaged. At "),
            "%s", explanation);
  free(explanation);
  plugin_end(plugin);
}

Test(damage, a_damaged_delivery_does_not_hide_the_others) {
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.settle_on_return = 1});
  push(plugin, "s", "one");
  expect_got(tool_result(plugin, "s"), "one");
  push(plugin, "s", "two");
  expect_got(tool_result(plugin, "s"), "two");
  spoil(store_of(plugin), ROW_DELIVERY, 1, false);
  char *history = ask(plugin, "{\"name\":\"history\",\"session\":\"s\"}");
  cr_assert(strstr(history, "\"total\":1,") && strstr(history, "\"message\":\"two\""), "%s",
            history);
  free(history);
  free(ask(plugin, "{\"name\":\"explain\",\"session\":\"s\",\"id\":\"4294967297\"}"));
  free(ask(plugin, "{\"name\":\"stream\",\"session\":\"s\"}"));
  plugin_end(plugin);
}

Test(damage, a_damaged_session_is_not_listed_as_idle) {
  static const char request[] = "{\"name\":\"sessions\",\"details\":true}";
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  push(plugin, "s", "one");
  char *sessions = ask(plugin, request);
  cr_expect(strstr(sessions, "\"state\":\"idle\",\"queued\":0,\"by_level\":{\"info\":1,"), "%s",
            sessions);
  free(sessions);
  spoil(store_of(plugin), ROW_HEAD, 0, false);
  sessions = ask(plugin, request);
  cr_expect(strstr(sessions, "\"state\":\"damaged\",\"queued\":0,\"by_level\":{\"info\":0,"), "%s",
            sessions);
  free(sessions);
  plugin_end(plugin);
}

/* A lease whose row is damaged can still be settled, because the head knows its items. */
static void settle_damaged(bool remove, uint32_t outcome, const char *expected) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_error error = new_error();
  push(plugin, "s", "one");
  push(plugin, "s", "two");
  struct got got = tool_result(plugin, "s");
  spoil(store_of(plugin), ROW_DELIVERY, 1, remove);
  push(plugin, "s", "three");
  cr_assert_eq(settle_as(plugin, got.delivery, outcome, &error), 0, "%d %s", error.code,
               error.text);
  expect_got(tool_result(plugin, "s"), expected);
  plugin_end(plugin);
}

Test(damage, a_damaged_lease_can_be_committed) {
  settle_damaged(false, TIDINGS_COMMITTED, "three");
}
Test(damage, a_damaged_lease_can_be_rolled_back) {
  settle_damaged(false, TIDINGS_ROLLED_BACK, "one|two|three");
}
Test(damage, a_lost_lease_can_be_committed) { settle_damaged(true, TIDINGS_COMMITTED, "three"); }
Test(damage, a_lost_lease_can_be_rolled_back) {
  settle_damaged(true, TIDINGS_ROLLED_BACK, "one|two|three");
}

/* A damaged lease of a dead owner is rolled back like every other lease. */
Test(damage, the_damaged_lease_of_a_dead_owner_is_recovered) {
  struct child other = child_living();
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  push(plugin, "s", "one");
  (void)tool_result(plugin, "s");
  push(plugin, "s", "two");
  (void)tool_result(plugin, "s");
  spoil(store_of(plugin), ROW_DELIVERY, 1, false);
  plugin_end(plugin);
  child_kill(&other);
  plugin = plugin_at(kit_store, (struct plugin_words){0});
  expect_got(tool_result(plugin, "s"), "one|two");
  plugin_end(plugin);
}

Test(damage, a_damaged_lease_that_the_transcript_names_is_committed) {
  struct child other = child_living();
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid});
  struct tidings_error error = new_error();
  push(plugin, "s", "one");
  struct got got = tool_result(plugin, "s");
  push(plugin, "s", "two");
  (void)tool_result(plugin, "s");
  spoil(store_of(plugin), ROW_DELIVERY, 1, false);
  plugin_end(plugin);
  child_kill(&other);
  plugin = plugin_at(kit_store, (struct plugin_words){0});
  cr_assert_eq(
      event(plugin, &error,
            "{\"type\":\"session.resumed\",\"session\":\"s\",\"data\":{\"deliveries\":[\"%llu\"]}}",
            (unsigned long long)got.delivery),
      0, "%s", error.text);
  expect_got(tool_result(plugin, "s"), "two");
  plugin_end(plugin);
}

Test(damage, a_session_with_a_damaged_lease_can_be_closed) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_error error = new_error();
  push(plugin, "s", "one");
  (void)tool_result(plugin, "s");
  spoil(store_of(plugin), ROW_DELIVERY, 1, false);
  cr_assert_eq(event(plugin, &error, "{\"type\":\"session.closed\",\"session\":\"s\"}"), 0, "%s",
               error.text);
  push(plugin, "s", "two");
  expect_got(tool_result(plugin, "s"), "two");
  plugin_end(plugin);
}

/* A session whose head is damaged answers STORE, with that sentence, until it is closed; then its
 * name can be used again. */
Test(damage, a_session_with_a_damaged_head_can_be_closed) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_error error = {.size = sizeof error, .code = 5, .text = "untouched"};
  for (int i = 0; i < 3; i++) {
    push(plugin, "s", "one");
    (void)tool_result(plugin, "s");
  }
  push(plugin, "s", "two");
  spoil(store_of(plugin), ROW_HEAD, 0, false);
  struct got got = tool_result(plugin, "s");
  cr_assert_eq(got.code, TIDINGS_E_STORE);
  cr_assert(strstr(got.error.text, "close the session"), "%s", got.error.text);
  cr_assert_eq(event(plugin, &error, "{\"type\":\"session.closed\",\"session\":\"s\"}"), 0, "%s",
               error.text);
  cr_assert_str_eq(error.text, "untouched");
  expect_got(tool_result(plugin, "s"), "");
  push(plugin, "s", "three");
  got = tool_result(plugin, "s");
  expect_got(got, "three");
  cr_assert_eq(got.delivery & UINT32_MAX, 5, "the closing was number 4, %llu",
               (unsigned long long)got.delivery);
  cr_assert_eq(last_of(store_of(plugin), "s"), 5);
  plugin_end(plugin);
}

/* Retention clears damaged rows away, but not one that is leased. */
Test(damage, retention_keeps_a_damaged_lease) {
  struct store *store = store_at(kit_store);
  fill_items(store, "s", 1, 20, 0);
  deliver_items(store, 1, 1, 1, 5, true, 0);
  deliver_items(store, 1, 2, 6, 10, false, 0);
  spoil(store, ROW_DELIVERY, 1, false);
  spoil(store, ROW_DELIVERY, 2, false);
  sweep(store, 0, 100);
  struct db_key key = row_key(1, ROW_DELIVERY, 2);
  struct tidings_error error = new_error();
  struct store_txn *txn;
  struct tidings_span value;
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(row_get(txn, &key, &value), 0);
  cr_assert_not_null(value.ptr, "the leased one is gone");
  store_end(txn);
  store_close(store);
}
