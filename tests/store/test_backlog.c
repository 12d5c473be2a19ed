/* SPDX-License-Identifier: MIT
 *
 * So many items wait in a session that a delivery does not read all of them. Each of the right
 * items is shown once, whoever pushed it and whatever was leased.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"
#include "kit_rows.h"

enum { WAITING = 1400, EVERY = 200, SHOWN = 10 };

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

static void put_item(const struct put *put, uint64_t n, unsigned level, const char *message) {
  const struct notification note = {
      .source = span_text("t"), .message = span_text(message), .level = (uint8_t)level};
  struct tidings_error error = new_error();
  struct db_key key = row_key(put->session, ROW_ITEM, n);
  struct buffer body = BUFFER_EMPTY;
  item_encode(&body, kit_now_ms, &note, NULL);
  cr_assert_eq(row_put(put->txn, &key, &body, &error), 0, "%s", error.text);
}

static void put_end(struct put put) {
  struct tidings_error error = new_error();
  cr_assert_eq(store_commit(put.txn, &error), 0, "%s", error.text);
}

/* "m1" to "m1400"; each 200th is a warning. */
static struct tidings_plugin *plugin_with_many(const char *delivery) {
  char configuration[256], message[32];
  (void)snprintf(configuration, sizeof configuration, "{\"delivery\":%s}", delivery);
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.configuration = configuration});
  const struct put put = put_begin(store_of(plugin));
  for (uint64_t n = 1; n <= WAITING; n++) {
    (void)snprintf(message, sizeof message, "m%llu", (unsigned long long)n);
    put_item(&put, n, n % EVERY ? TIDINGS_LEVEL_INFO : TIDINGS_LEVEL_WARNING, message);
  }
  put_end(put);
  return plugin;
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

Test(backlog, each_item_once_and_in_order) {
  static bool seen[WAITING + 1];
  struct tidings_plugin *plugin = plugin_with_many("{\"max_items\":40,\"order\":\"newest\"}");
  size_t total = 0;
  int last = WAITING + 1;
  for (struct got got; (got = tool_result(plugin, "s")).delivery;) {
    cr_assert_eq(got.code, 0, "%s", got.error.text);
    for (char *at = got.messages, *end; *at == 'm'; at = end + (*end == '|')) {
      int n = (int)strtol(at + 1, &end, 10);
      cr_assert(n > 0 && n <= WAITING && !seen[n], "m%d", n);
      if (n % EVERY) cr_assert_lt(n, last, "m%d after m%d", n, last);
      if (n % EVERY) last = n;
      seen[n] = true;
    }
    total += got.count;
    settle_got(plugin, &got, TIDINGS_COMMITTED);
  }
  cr_assert_eq(total, WAITING);
  for (int n = 1; n <= WAITING; n++) cr_assert(seen[n], "m%d was never shown", n);
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
