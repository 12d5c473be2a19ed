/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_forget.c: forgets a session on request: all its rows, in portions, but no row of
 * another session, and not while its host runs. The linker sends the plugin's calls of store_commit
 * here (see CMakeLists.txt).
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"
#include "kit_rows.h"
#include "store/forget/forget.h"

TestSuite(forget, .init = kit_begin, .fini = kit_end);

int __real_store_commit(struct store_txn *txn, struct tidings_error *error);
int __wrap_store_commit(struct store_txn *txn, struct tidings_error *error);

static size_t commits;
static int (*after_commit)(struct store *store); /* once */

int __wrap_store_commit(struct store_txn *txn, struct tidings_error *error) {
  struct store *store = txn->store;
  int (*work)(struct store *) = after_commit;
  int code = __real_store_commit(txn, error);
  commits++;
  after_commit = NULL;
  if (!code && work) cr_assert_eq(work(store), 0, "what came meanwhile");
  return code;
}

/* Both sessions have rows of every kind; "s" has a history of 5,000, and ten that wait. */
static void fill(void) {
  struct store *store = store_at(kit_store);
  fill_items(store, "s", 1, 5010, 0);
  uint32_t session = number_of(store, "s");
  for (uint64_t n = 1; n <= 50; n++)
    deliver_items(store, session, n, (n - 1) * 100 + 1, n * 100, true, 0);
  for (int i = 0; i < 30; i++) {
    char id[16];
    (void)snprintf(id, sizeof id, "i%d", i);
    cr_assert_eq(say(store, (struct said){.session = "s", .id = id}, NULL, NULL), 0);
  }
  say_well(store, "other", "stays");
  store_close(store);
}

static size_t rows_of(const char *name, uint32_t session) {
  struct store *store = store_at(kit_store);
  size_t count = 0;
  for (int kind = ROW_HEAD; kind < 32; kind++)
    count += rows_in(store, session, (enum row_kind)kind);
  count += number_of(store, name) == session;
  store_close(store);
  return count;
}

static uint32_t number(const char *name) {
  struct store *store = store_at(kit_store);
  uint32_t session = number_of(store, name);
  store_close(store);
  return session;
}

static int forget(const char *name, bool dry_run, struct db_forgotten *ret_gone,
                  struct tidings_error *error) {
  const struct store_options options = {
      .directory = kit_store, .create_budget_ms = KIT_BUDGET_MS, .only_reads = true};
  struct store *store = NULL;
  *error = new_error();
  cr_assert_eq(store_open(&options, &store, error), 0, "%s", error->text);
  int code = store_forget_session(store, span_text(name), dry_run, ret_gone, error);
  store_close(store);
  return code;
}

Test(forget, everything_goes_in_portions_and_nothing_of_another) {
  struct tidings_error error;
  struct db_forgotten counted, gone;
  fill();
  uint32_t session = number("s"), other = number("other");
  size_t rows = rows_of("s", session), others = rows_of("other", other);
  cr_assert_eq(forget("s", true, &counted, &error), 0, "%s", error.text);
  cr_expect_eq(counted.rows, rows);
  cr_expect_eq(counted.notifications, 5040);
  cr_expect_eq(counted.deliveries, 50);
  cr_expect_eq(rows_of("s", session), rows, "it was only counted");
  commits = 0;
  cr_assert_eq(forget("s", false, &gone, &error), 0, "%s", error.text);
  cr_expect_geq(commits, 6, "%zu commits", commits);
  cr_expect_eq(rows_of("s", session), 0);
  cr_expect_eq(gone.rows, rows);
  cr_expect_eq(gone.notifications, counted.notifications);
  cr_expect_eq(rows_of("other", other), others);
  cr_expect_eq(forget("s", false, &gone, &error), TIDINGS_E_NOT_FOUND);
}

/* The host that opens it between two portions keeps what waits in it. */
static int open_as_host(struct store *store) {
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn;
  uint32_t session;
  struct head head;
  int code = store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error);
  if (!code) code = session_find(txn, span_text("s"), &session, &error);
  if (!code) code = head_get(txn, session, &arena, &head, &error);
  head.owner = *store_self(store);
  if (!code) code = head_put(txn, session, &head, &error);
  arena_free(&arena);
  return code ? code : __real_store_commit(txn, &error);
}

Test(forget, a_session_that_is_opened_meanwhile_stays) {
  struct tidings_error error;
  struct db_forgotten gone;
  fill();
  after_commit = open_as_host;
  cr_assert_eq(forget("s", false, &gone, &error), TIDINGS_E_STATE);
  cr_assert(strstr(error.text, "has a host that runs, pid "), "%s", error.text);
  struct store *store = store_at(kit_store);
  cr_expect_eq(pending_in(store, "s"), 40);
  cr_expect_lt(items_in(store, "s"), 5040, "of its history some has gone");
  cr_expect_eq(last_of(store, "s"), 5040);
  store_close(store);
}

static int be_host(struct child *self, void *context) {
  struct tidings_error error = new_error();
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){.role = 0});
  (void)context;
  push(plugin, "s", "one");
  if (tool_result(plugin, "s").count != 1) return 1;
  child_signal_test(self);
  child_await_test(self);
  if (event(plugin, &error, "{\"type\":\"session.closed\",\"session\":\"s\",\"data\":{}}"))
    return 2;
  child_signal_test(self);
  child_await_test(self); /* meanwhile it is forgotten, and this process knows its number */
  push(plugin, "s", "two");
  struct got got = tool_result(plugin, "s");
  if (got.code || strcmp(got.messages, "two") != 0) return 3;
  plugin_end(plugin);
  return 0;
}

Test(forget, not_while_its_host_runs_and_whoever_knows_its_number_goes_on_with_a_new_one) {
  struct tidings_error error;
  struct db_forgotten gone;
  struct child child = child_start(be_host, NULL);
  child_await(&child);
  cr_assert_eq(forget("s", false, &gone, &error), TIDINGS_E_STATE, "%s", error.text);
  cr_assert_eq(forget("s", true, &gone, &error), TIDINGS_E_STATE, "%s", error.text);
  child_signal(&child);
  child_await(&child);
  cr_assert_eq(forget("s", false, &gone, &error), 0, "%s", error.text);
  child_signal(&child);
  int result = child_wait(&child);
  cr_assert_eq(result, 0, "%d", result);
  struct store *store = store_at(kit_store);
  cr_expect_eq(items_in(store, "s"), 1, "nothing old: %zu", items_in(store, "s"));
  store_close(store);
}

/* Adds a name's row as if its hash were the same as that of `beside`; there is room for sixteen
 * such names. */
static void add_colliding(struct store *store, const char *beside, uint64_t nth, const char *name,
                          uint32_t session) {
  struct tidings_error error = new_error();
  struct buffer body = BUFFER_EMPTY;
  struct store_txn *txn;
  struct db_key key = session_name_row(span_text(beside));
  key = row_key(0, ROW_NAME, row_key_n(key.bytes) + nth);
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  record_begin(&body);
  record_u64(&body, session);
  record_bytes(&body, span_text(name));
  cr_assert_eq(row_put(txn, &key, &body, &error), 0);
  cr_assert_eq(__real_store_commit(txn, &error), 0);
}

static size_t name_rows(const char *beside, uint64_t nth, char ret_name[32]) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct store_txn *txn;
  struct tidings_span value, name = span_of("", 0);
  uint32_t session = 0;
  struct db_key key = session_name_row(span_text(beside));
  key = row_key(0, ROW_NAME, row_key_n(key.bytes) + nth);
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(row_get(txn, &key, &value), 0);
  bool there = value.ptr && session_decode(&key, value, &name, &session);
  (void)snprintf(ret_name, 32, "%.*s", (int)name.len, name.ptr);
  store_end(txn);
  store_close(store);
  return there ? session : 0;
}

Test(forget, names_that_collide_are_found_after_it) {
  struct tidings_error error;
  struct db_forgotten gone;
  char name[32];
  fill();
  struct store *store = store_at(kit_store);
  add_colliding(store, "s", 1, "second", 70);
  add_colliding(store, "s", 2, "third", 71);
  store_close(store);
  cr_assert_eq(forget("s", false, &gone, &error), 0, "%s", error.text);
  cr_expect_eq(name_rows("s", 0, name), 70);
  cr_expect_str_eq(name, "second");
  cr_expect_eq(name_rows("s", 1, name), 71);
  cr_expect_str_eq(name, "third");
  cr_expect_eq(name_rows("s", 2, name), 0);
}
