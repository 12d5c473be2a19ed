/* SPDX-License-Identifier: MIT
 *
 * If so many items wait in a session that a delivery does not read all of them, each right item is
 * still shown once, whoever pushed it and whatever was leased.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"
#include "kit_rows.h"

enum { WAITING = 1400, MORE = 2600, EVERY = 200 };

TestSuite(backlog, .init = kit_begin, .fini = kit_end);

struct put {
  struct store *store;
  struct store_txn *txn;
  uint32_t session;
};

static struct put put_begin(struct store *store) {
  struct put put = {.store = store};
  struct tidings_error error = new_error();
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &put.txn, &error), 0);
  cr_assert_eq(session_add(put.txn, span_text("s"), &put.session, &error), 0, "%s", error.text);
  return put;
}

static void put_note(const struct put *put, uint64_t n, const struct notification *note) {
  struct tidings_error error = new_error();
  struct db_key key = row_key(put->session, ROW_ITEM, n);
  struct buffer body = BUFFER_EMPTY;
  item_encode(&body, kit_now_ms, note, NULL);
  cr_assert_eq(row_put(put->txn, &key, &body, &error), 0, "%s", error.text);
}

static struct notification note_of(unsigned level, const char *message) {
  return (struct notification){
      .source = span_text("t"), .message = span_text(message), .level = (uint8_t)level};
}

static void put_item(const struct put *put, uint64_t n, unsigned level, const char *message) {
  const struct notification note = note_of(level, message);
  put_note(put, n, &note);
}

static void put_end(struct put put) {
  struct tidings_error error = new_error();
  cr_assert_eq(store_commit(put.txn, &error), 0, "%s", error.text);
}

static struct tidings_plugin *plugin_of(const char *delivery) {
  char configuration[256];
  (void)snprintf(configuration, sizeof configuration, "{\"delivery\":%s}", delivery);
  return plugin_at(kit_store, (struct plugin_words){.configuration = configuration});
}

/* "m1", "m2" and so on; each 200th is a warning. */
static struct tidings_plugin *plugin_with(uint64_t count, const char *delivery) {
  char message[32];
  struct tidings_plugin *plugin = plugin_of(delivery);
  const struct put put = put_begin(store_of(plugin));
  for (uint64_t n = 1; n <= count; n++) {
    (void)snprintf(message, sizeof message, "m%llu", (unsigned long long)n);
    put_item(&put, n, n % EVERY ? TIDINGS_LEVEL_INFO : TIDINGS_LEVEL_WARNING, message);
  }
  put_end(put);
  return plugin;
}

static struct tidings_plugin *plugin_with_many(const char *delivery) {
  return plugin_with(WAITING, delivery);
}

static void settle_got(struct tidings_plugin *plugin, const struct got *got, uint32_t outcome) {
  struct tidings_error error = new_error();
  cr_assert_eq(settle_as(plugin, got->delivery, outcome, &error), 0, "%s", error.text);
}

#define expect_leased(got, expected)                                                               \
  do {                                                                                             \
    cr_assert_eq((got).code, 0, "%d %s", (got).code, (got).error.text);                            \
    cr_assert_str_eq((got).messages, expected, "got \"%s\", expected \"%s\"", (got).messages,      \
                     expected);                                                                    \
  } while (0)

Test(backlog, what_goes_first_is_shown) {
  struct tidings_plugin *plugin = plugin_with_many("{\"max_items\":10}");
  struct got got = tool_result(plugin, "s");
  expect_leased(got, "m200|m400|m600|m800|m1000|m1200|m1400|m1|m2|m3");
  struct got second = tool_result(plugin, "s");
  expect_leased(second, "m4|m5|m6|m7|m8|m9|m10|m11|m12|m13");
  settle_got(plugin, &got, TIDINGS_ROLLED_BACK);

  const struct put put = put_begin(store_of(plugin)); /* as another process does */
  put_item(&put, WAITING + 1, TIDINGS_LEVEL_CRITICAL, "stop");
  put_end(put);
  got = tool_result(plugin, "s");
  expect_leased(got, "stop|m200|m400|m600|m800|m1000|m1200|m1400|m1|m2");
  settle_got(plugin, &got, TIDINGS_COMMITTED);
  settle_got(plugin, &second, TIDINGS_ROLLED_BACK);
  expect_got(tool_result(plugin, "s"), "m3|m4|m5|m6|m7|m8|m9|m10|m11|m12");
  plugin_end(plugin);
}

/* Except warnings, items come in the order of their numbers, from the last or the first on. */
static void expect_each_once(struct tidings_plugin *plugin, int count, int step) {
  static bool seen[MORE + 1];
  size_t total = 0;
  int last = step < 0 ? count + 1 : 0;
  memset(seen, 0, sizeof seen);
  for (struct got got; (got = tool_result(plugin, "s")).delivery;) {
    cr_assert_eq(got.code, 0, "%s", got.error.text);
    for (char *at = got.messages, *end; *at == 'm'; at = end + (*end == '|')) {
      int n = (int)strtol(at + 1, &end, 10);
      cr_assert(n > 0 && n <= count && !seen[n], "m%d", n);
      if (n % EVERY) cr_assert_gt(step * n, step * last, "m%d after m%d", n, last);
      if (n % EVERY) last = n;
      seen[n] = true;
    }
    total += got.count;
    settle_got(plugin, &got, TIDINGS_COMMITTED);
  }
  cr_assert_eq(total, (size_t)count);
  for (int n = 1; n <= count; n++) cr_assert(seen[n], "m%d was never shown", n);
}

Test(backlog, each_item_once_and_in_order) {
  struct tidings_plugin *plugin = plugin_with_many("{\"max_items\":40,\"order\":\"newest\"}");
  expect_each_once(plugin, WAITING, -1);
  plugin_end(plugin);
}

/* Most noted items have ended before the rest is small enough to be read completely. */
Test(backlog, each_item_once_after_most_have_ended) {
  struct tidings_plugin *plugin = plugin_with(MORE, "{\"max_items\":40}");
  expect_each_once(plugin, MORE, 1);
  plugin_end(plugin);
}

/* A store was restored from an earlier copy, and then pushed to, so the same numbers name other
 * items.
 */
Test(backlog, a_store_that_went_back_in_time_is_read_anew) {
  struct tidings_plugin *plugin = plugin_with_many("{\"max_items\":3}");
  struct got got = tool_result(plugin, "s");
  expect_leased(got, "m200|m400|m600");
  settle_got(plugin, &got, TIDINGS_ROLLED_BACK);
  const struct put put = put_begin(store_of(plugin));
  put_item(&put, WAITING, TIDINGS_LEVEL_ERROR, "another");
  put_item(&put, 1, TIDINGS_LEVEL_CRITICAL, "first");
  put_end(put);
  expect_got(tool_result(plugin, "s"), "first|another|m200");
  plugin_end(plugin);
}

/* All are in one line, so no line is left for later. */
Test(backlog, one_line_of_many_items_has_all_of_them) {
  struct tidings_plugin *plugin = plugin_of("{\"max_items\":10,\"coalesce_window_ms\":86400000}");
  const struct put put = put_begin(store_of(plugin));
  for (uint64_t n = 1; n < WAITING; n++) put_item(&put, n, TIDINGS_LEVEL_INFO, "same");
  put_item(&put, WAITING, TIDINGS_LEVEL_INFO, "other");
  put_end(put);
  struct got got = tool_result(plugin, "s");
  expect_leased(got, "same (1399 times)|other");
  settle_got(plugin, &got, TIDINGS_COMMITTED);
  cr_assert_eq(pending_in(store_of(plugin), "s"), 0);
  plugin_end(plugin);
}

Test(backlog, what_is_dropped_for_a_lack_of_room_is_dropped_once) {
  struct tidings_plugin *plugin =
      plugin_with_many("{\"max_items\":3,\"overflow\":\"drop_lowest\"}");
  struct got got = tool_result(plugin, "s");
  expect_leased(got, "m1000|m1200|m1400");
  cr_assert_eq(pending_in(store_of(plugin), "s"), 0);
  settle_got(plugin, &got, TIDINGS_ROLLED_BACK);
  expect_got(tool_result(plugin, "s"), "m1000|m1200|m1400");
  plugin_end(plugin);
}

/* The clock goes back between two pushes; one item is for later, and counts from then on. */
Test(backlog, what_is_late_stands_where_its_time_is) {
  struct tidings_plugin *plugin = plugin_of("{\"max_items\":3,\"order\":\"newest\"}");
  struct notification later = note_of(TIDINGS_LEVEL_INFO, "later");
  char message[32];
  const struct put put = put_begin(store_of(plugin));
  later.due_ms = kit_now_ms + 1000;
  for (uint64_t n = 1; n <= WAITING; n++) {
    (void)snprintf(message, sizeof message, "m%llu", (unsigned long long)n);
    if (n == WAITING / 2) kit_now_ms -= 5000;
    if (n == 7) put_note(&put, n, &later);
    else put_item(&put, n, TIDINGS_LEVEL_INFO, message);
  }
  put_end(put);
  struct got got = tool_result(plugin, "s");
  expect_leased(got, "m1400|m1399|m1398");
  settle_got(plugin, &got, TIDINGS_ROLLED_BACK);
  kit_now_ms += 10000;
  expect_got(tool_result(plugin, "s"), "later|m1400|m1399");
  plugin_end(plugin);
}

/* The newest items have old times, but come after the others, which the notes do not need. */
Test(backlog, what_is_late_stands_before_items_whose_times_are_older) {
  struct tidings_plugin *plugin = plugin_of("{\"max_items\":3,\"order\":\"newest\"}");
  struct notification later = note_of(TIDINGS_LEVEL_INFO, "later");
  char message[32];
  const struct put put = put_begin(store_of(plugin));
  later.source = span_text("another");
  later.due_ms = kit_now_ms + 5000;
  put_note(&put, 1, &later);
  kit_now_ms += 10000;
  for (uint64_t n = 2; n <= WAITING; n++) {
    (void)snprintf(message, sizeof message, "m%llu", (unsigned long long)n);
    if (n == WAITING / 2) kit_now_ms -= 9500;
    put_item(&put, n, TIDINGS_LEVEL_INFO, message);
  }
  put_end(put);
  kit_now_ms += 20000;
  expect_got(tool_result(plugin, "s"), "m1400|m1399|later");
  plugin_end(plugin);
}

/* The newest item has not changed, so only rows that a delivery needs show the change. */
Test(backlog, a_needed_row_that_has_changed_is_read_anew) {
  struct tidings_plugin *plugin = plugin_with_many("{\"max_items\":3}");
  struct got got = tool_result(plugin, "s");
  expect_leased(got, "m200|m400|m600");
  settle_got(plugin, &got, TIDINGS_ROLLED_BACK);
  const struct put put = put_begin(store_of(plugin));
  put_item(&put, 400, TIDINGS_LEVEL_ERROR, "another");
  put_end(put);
  expect_got(tool_result(plugin, "s"), "another|m200|m600");
  plugin_end(plugin);
}

/* The notes say which of many items are for later. */
Test(backlog, the_host_is_woken_when_an_item_is_due) {
  struct tidings_plugin *plugin = plugin_with_many("{\"max_items\":3}");
  struct notification later = note_of(TIDINGS_LEVEL_CRITICAL, "later");
  const struct put put = put_begin(store_of(plugin));
  later.due_ms = kit_now_ms + 60000;
  put_note(&put, WAITING + 1, &later);
  put_end(put);
  const struct tidings_tool_result result = {
      .size = sizeof result, .session = span_text("s"), .call_id = span_text("c")};
  const struct tidings_reply *reply = NULL;
  struct tidings_error error = new_error();
  cr_assert_eq(plugin->on_tool_result(plugin, &result, &reply, &error), 0, "%s", error.text);
  cr_assert_eq(reply->notification_count, 3);
  cr_assert_eq(reply->wake_at_ms, later.due_ms);
  plugin->release(plugin, reply);
  kit_now_ms = later.due_ms;
  expect_got(tool_result(plugin, "s"), "later|m800|m1000");
  plugin_end(plugin);
}
