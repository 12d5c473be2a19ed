/* SPDX-License-Identifier: MIT
 *
 * Rows of outlines agree with the items, and a plan made with them is the same as a plan made
 * without them. With outlines, a process that was just started reads few rows to show ten of
 * thousands of items. The linker sends calls of record_open here, so that the test counts the rows
 * that are read (see CMakeLists.txt).
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"
#include "kit_rows.h"
#include "store/outlines.h"

enum { A_ROW = 128, SHOWN = 10, PUSHED = 2000 }; /* items */

TestSuite(outlines, .init = kit_begin, .fini = kit_end);

bool __real_record_open(struct record_reader *reader, const struct db_key *key,
                        struct tidings_span record);
#pragma GCC visibility push(default)
bool __wrap_record_open(struct record_reader *reader, const struct db_key *key,
                        struct tidings_span record);
#pragma GCC visibility pop

static size_t records_read;

bool __wrap_record_open(struct record_reader *reader, const struct db_key *key,
                        struct tidings_span record) {
  records_read++;
  return __real_record_open(reader, key, record);
}

/* -- pushes, many in a commit ------------------------------------------------------------------ */

static struct store_txn *begin_write(struct store *store) {
  struct tidings_error error = new_error();
  struct store_txn *txn = NULL;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  return txn;
}

static void end_write(struct store_txn *txn) {
  struct tidings_error error = new_error();
  cr_assert_eq(store_commit(txn, &error), 0, "%s", error.text);
}

/* The differences between the items of a session. */
struct mixture {
  size_t sources, levels, texts, step_ms;
  size_t keys, ends; /* one item in this many has one; 0: none has */
};

static void push_some(struct store *store, const char *session, size_t count,
                      const struct mixture *mixture, struct random *random) {
  static const char *const sources[] = {"ci", "mail", "cron"}, *const names[] = {"", "run"};
  struct store_txn *txn = begin_write(store);
  int64_t now_ms = kit_now_ms;
  for (size_t i = 0; i < count; i++) {
    char message[64];
    struct tidings_error error = new_error();
    (void)snprintf(message, sizeof message, "text %zu", random_below(random, mixture->texts));
    struct notification note = {.source =
                                    span_text(sources[random_below(random, mixture->sources)]),
                                .name = span_text(names[random_below(random, 2)]),
                                .message = span_text(message),
                                .level = (uint8_t)random_below(random, mixture->levels)};
    if (mixture->keys && !random_below(random, mixture->keys)) note.key = span_text("k");
    if (mixture->ends && !random_below(random, mixture->ends))
      note.ttl_ms = 1 + (int64_t)random_below(random, 100000);
    now_ms += (int64_t)random_below(random, mixture->step_ms);
    const struct push push = {
        .session = span_text(session), .note = &note, .now_ms = now_ms, .pending_limit = 1000000};
    cr_assert_eq(push_in(txn, &push, &error), 0, "%s", error.text);
  }
  end_write(txn);
  kit_now_ms = now_ms;
}

/* -- they say what the items say --------------------------------------------------------------- */

struct seen {
  struct store_txn *txn;
  uint32_t session;
  uint64_t next, last;
  size_t count;
};

static int compare_outline(void *context, const struct outline *outline) {
  struct seen *seen = context;
  struct tidings_error error = new_error();
  struct outline_kind kind;
  struct item item;
  cr_assert(outline->n >= seen->next && outline->n <= seen->last);
  seen->next = outline->n + 1;
  int code = item_get(seen->txn, seen->session, outline->n, NULL, &item, &error);
  if (code == TIDINGS_E_NOT_FOUND) return 0;
  const struct outline expected = outline_of(&item, &kind);
  cr_assert(outline_kind_equal(outline->kind, &kind), "item %llu", (unsigned long long)item.n);
  cr_assert(outline->time_ms == expected.time_ms && outline->ends_ms == expected.ends_ms &&
                outline->message == expected.message && outline->bytes == expected.bytes &&
                outline->sort == expected.sort && outline->rings == expected.rings,
            "item %llu", (unsigned long long)item.n);
  seen->count++;
  return 0;
}

static int count_item(void *context, const struct item *item) {
  (void)item;
  ++*(size_t *)context;
  return 0;
}

static void compare_ranges(struct store *store, uint32_t session, uint64_t last,
                           struct random *random) {
  struct tidings_error error = new_error();
  struct store_txn *txn = NULL;
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  for (int i = 0; i < 50; i++) {
    uint64_t first = 1 + random_below(random, last), end = first + random_below(random, last);
    struct seen seen = {.txn = txn, .session = session, .next = first, .last = end};
    size_t items = 0;
    cr_assert_eq(outline_scan(txn, session, first, end, compare_outline, &seen, &error), 0);
    cr_assert_eq(item_scan(txn, session, first, end, NULL, count_item, &items, &error), 0);
    cr_assert_eq(seen.count, items, "%zu of %zu items have an outline", seen.count, items);
  }
  store_end(txn);
}

/* A row that was spoilt is sound when it is spoilt again. */
static void spoil_rows(struct store *store, uint32_t session, uint64_t first, uint64_t end) {
  struct store_txn *txn = begin_write(store);
  for (uint64_t row = first; row < end; row++) {
    struct db_key key = row_key(session, ROW_OUTLINES, row);
    struct tidings_span value;
    char copy[8192];
    cr_assert_eq(row_get(txn, &key, &value), 0);
    size_t len = value.len;
    cr_assert(value.ptr && len <= sizeof copy, "row %llu", (unsigned long long)row);
    memcpy(copy, value.ptr, len);
    copy[len / 2] ^= 1;
    cr_assert_eq(db_put(txn->db, &key, span_of(copy, len)), 0);
  }
  end_write(txn);
}

static void delete_row(struct store *store, uint32_t session, enum row_kind kind, uint64_t n) {
  struct store_txn *txn = begin_write(store);
  struct db_key key = row_key(session, kind, n);
  cr_assert_eq(db_delete(txn->db, &key), 0);
  end_write(txn);
}

Test(outlines, say_what_the_items_say) {
  static const struct mixture mixtures[] = {{3, 4, 50, 100, 20, 10}, {1, 1, 1000000, 3, 0, 0}};
  struct store *store = store_at(kit_store);
  struct random random = {1};
  for (size_t m = 0; m < 2; m++) {
    const char *session = m ? "b" : "a";
    for (int i = 0; i < 3; i++) push_some(store, session, 333, &mixtures[m], &random);
    uint32_t number = number_of(store, session);
    cr_assert_eq(rows_in(store, number, ROW_OUTLINES), 999 / A_ROW);
    compare_ranges(store, number, 999, &random);
    spoil_rows(store, number, 2, 3);
    delete_row(store, number, ROW_OUTLINES, 4);
    delete_row(store, number, ROW_OUTLINES, 5);
    delete_row(store, number, ROW_ITEM, 300);
    compare_ranges(store, number, 999, &random);
  }
  store_close(store);
}

/* -- the plan is the same ---------------------------------------------------------------------- */

/* A process that has just been started makes it, and rolls it back. */
static char *say_delivery(const char *configuration) {
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.configuration = configuration});
  const struct tidings_tool_result result = {.size = sizeof result,
                                             .session = span_text("s"),
                                             .call_id = span_text("c"),
                                             .room_bytes = 4000};
  const struct tidings_reply *reply = NULL;
  struct tidings_error error = new_error();
  struct buffer text = BUFFER_EMPTY;
  cr_assert_eq(plugin->on_tool_result(plugin, &result, &reply, &error), 0, "%s", error.text);
  cr_assert_not_null(reply);
  for (uint32_t i = 0; i < reply->part_count; i++) buffer_span(&text, reply->parts[i]->text);
  for (uint32_t i = 0; i < reply->notification_count; i++)
    buffer_format(&text, "|%llu x%u", (unsigned long long)reply->notifications[i]->id,
                  reply->notifications[i]->count);
  uint64_t id = reply->delivery_id;
  plugin->release(plugin, reply);
  cr_assert_eq(settle_as(plugin, id, TIDINGS_ROLLED_BACK, &error), 0, "%s", error.text);
  char *stats = ask(plugin, "{\"name\":\"stats\",\"session\":\"s\"}");
  buffer_format(&text, "|%s", strstr(stats, "\"pending\""));
  free(stats);
  plugin_end(plugin);
  return buffer_take(&text);
}

static const char *const configurations[] = {
    "{\"delivery\":{\"max_items\":10}}", "{\"delivery\":{\"preset\":\"balanced\"}}",
    "{\"delivery\":{\"preset\":\"balanced\",\"order\":\"newest\",\"fence\":\"none\"}}",
    "{\"delivery\":{\"max_items\":5,\"coalesce_window_ms\":300,\"order\":\"time\"}}",
    ("{\"delivery\":{\"max_tokens\":200},\"conversation\":{\"notifications\":{\"kinds\":{\"cron\":{"
     "\"enable\":false}}}}}")};

static void spoil_all_rows(uint32_t number) {
  struct store *store = store_at(kit_store);
  spoil_rows(store, number, 0, PUSHED / A_ROW);
  store_close(store);
}

Test(outlines, a_plan_by_them_is_the_plan_without_them, .timeout = 120) {
  static const struct mixture mixtures[] = {{3, 3, 1000000, 100, 0, 0},
                                            {3, 4, 40, 3, 0, 0},
                                            {1, 1, 1000000, 2, 0, 30},
                                            {3, 3, 400, 20, 300, 40}};
  for (size_t m = 0; m < sizeof mixtures / sizeof *mixtures; m++) {
    struct random random = {m + 7};
    kit_end();
    kit_begin();
    struct store *store = store_at(kit_store);
    push_some(store, "s", PUSHED, &mixtures[m], &random);
    uint32_t number = number_of(store, "s");
    store_close(store);
    for (size_t c = 0; c < sizeof configurations / sizeof *configurations; c++) {
      free(say_delivery(configurations[c])); /* what has expired ends */
      char *by_rows = say_delivery(configurations[c]);
      spoil_all_rows(number);
      char *by_items = say_delivery(configurations[c]);
      spoil_all_rows(number);
      cr_assert_str_eq(by_rows, by_items, "mixture %zu, %s: \"%s\", expected \"%s\"", m,
                       configurations[c], by_rows, by_items);
      free(by_items);
      free(by_rows);
    }
  }
}

/* -- few rows are read ------------------------------------------------------------------------- */

static size_t count_read(const char *session, const char *configuration) {
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.configuration = configuration});
  struct tidings_error error = new_error();
  expect_got(tool_result(plugin, "other"), "");  /* what is read at the open is not counted */
  struct got got = tool_result(plugin, session); /* attaches */
  cr_assert_eq(got.count, SHOWN, "%s", got.error.text);
  cr_assert_eq(settle_as(plugin, got.delivery, TIDINGS_ROLLED_BACK, &error), 0, "%s", error.text);
  plugin_end(plugin);
  plugin = plugin_at(kit_store, (struct plugin_words){.configuration = configuration});
  records_read = 0;
  got = tool_result(plugin, session);
  cr_assert_eq(got.count, SHOWN, "%s", got.error.text);
  cr_assert_eq(settle_as(plugin, got.delivery, TIDINGS_ROLLED_BACK, &error), 0, "%s", error.text);
  size_t count = records_read;
  plugin_end(plugin);
  return count;
}

Test(outlines, ten_of_thousands_are_few_rows) {
  static const struct mixture mixture = {3, 3, 1000000, 3, 0, 0};
  struct store *store = store_at(kit_store);
  struct random random = {3};
  push_some(store, "few", SHOWN, &mixture, &random);
  push_some(store, "many", 9000, &mixture, &random);
  store_close(store);
  for (size_t c = 0; c < 3; c++) {
    size_t of_few = count_read("few", configurations[c]);
    size_t of_many = count_read("many", configurations[c]);
    cr_expect_leq(of_many, of_few + 9000 / A_ROW + (size_t)3 * A_ROW,
                  "%s: %zu rows, and %zu for ten", configurations[c], of_many, of_few);
  }
}

/* -- they end ---------------------------------------------------------------------------------- */

Test(outlines, go_when_nothing_waits_in_them) {
  static const struct mixture mixture = {3, 3, 1000000, 3, 0, 0};
  struct tidings_plugin *plugin = plugin_at(
      kit_store, (struct plugin_words){.configuration = "{\"delivery\":{\"max_items\":90}}"});
  struct tidings_error error = new_error();
  struct random random = {3};
  push_some(store_of(plugin), "s", (size_t)5 * A_ROW, &mixture, &random);
  uint32_t number = number_of(store_of(plugin), "s");
  cr_assert_eq(rows_in(store_of(plugin), number, ROW_OUTLINES), 5);
  for (struct got got; (got = tool_result(plugin, "s")).delivery;)
    cr_assert_eq(settle_as(plugin, got.delivery, TIDINGS_COMMITTED, &error), 0, "%s", error.text);
  cr_assert_eq(rows_in(store_of(plugin), number, ROW_OUTLINES), 0);
  plugin_end(plugin);
}
