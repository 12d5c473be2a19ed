/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_promises.c: the store fails while quiesce and close apply settles that were only
 * remembered. The linker sends the plugin's calls of store_commit_as_read and instance_quiesce here
 * (see CMakeLists.txt).
 */
#include <criterion/criterion.h>

#include "common/error.h"
#include "instance/instance.h"
#include "kit.h"

int __real_store_commit_as_read(struct store_txn *txn, bool *ret_outdated,
                                struct tidings_error *error);
int __wrap_store_commit_as_read(struct store_txn *txn, bool *ret_outdated,
                                struct tidings_error *error);

/* The code of each commit; 0: it is made. Later commits get the last code. */
static const int *commits;

int __wrap_store_commit_as_read(struct store_txn *txn, bool *ret_outdated,
                                struct tidings_error *error) {
  int code = commits ? *commits : 0;
  if (commits && commits[1] <= 0) commits++;
  if (!code) return __real_store_commit_as_read(txn, ret_outdated, error);
  store_end(txn);
  *ret_outdated = false;
  return fail(error, code, "the test lets this commit fail");
}

enum { LAST = 1 }; /* ends such a list */

int __real_instance_quiesce(struct instance *instance, struct tidings_error *error);
int __wrap_instance_quiesce(struct instance *instance, struct tidings_error *error);

static void (*before_quiesce)(struct instance *instance);

int __wrap_instance_quiesce(struct instance *instance, struct tidings_error *error) {
  void (*act)(struct instance *) = before_quiesce;
  before_quiesce = NULL;
  if (act) act(instance);
  return __real_instance_quiesce(instance, error);
}

static void begin(void) {
  kit_begin();
  commits = NULL;
  before_quiesce = NULL;
}

TestSuite(promises, .init = begin, .fini = kit_end);

static uint64_t leased(struct tidings_plugin *plugin, const char *session) {
  push(plugin, session, "one");
  struct got got = tool_result(plugin, session);
  cr_assert_eq(got.code, 0, "%d %s", got.code, got.error.text);
  cr_assert_neq(got.delivery, 0);
  return got.delivery;
}

/* Lets the settle be remembered; any call that succeeds would apply it. */
static void promise(struct tidings_plugin *plugin, uint64_t delivery) {
  static const int unknown[] = {TIDINGS_E_OUTCOME_UNKNOWN, LAST};
  struct tidings_error error = new_error();
  commits = unknown;
  cr_assert_eq(settle_as(plugin, delivery, TIDINGS_OUTCOME_ROLLED_BACK, &error),
               TIDINGS_E_OUTCOME_UNKNOWN, "%s", error.text);
  commits = NULL;
}

static uint64_t late_delivery;

static void promise_late(struct instance *instance) { promise(&instance->plugin, late_delivery); }

static struct tidings_plugin *with_two_promises(void) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  uint64_t first = leased(plugin, "first"), second = leased(plugin, "second");
  promise(plugin, first);
  promise(plugin, second);
  return plugin;
}

static void expect_leased(const char *session, size_t expected) {
  struct store *store = store_at(kit_store);
  struct arena arena = ARENA_EMPTY;
  struct head head = head_of(store, session, &arena);
  cr_expect_eq(head.leased_count, expected, "%s: %zu leases", session, (size_t)head.leased_count);
  arena_free(&arena);
  store_close(store);
}

/* A temporary error keeps the instance open, so that the host can try again. */
Test(promises, are_kept_until_the_store_takes_them) {
  static const int codes[][2] = {
      {TIDINGS_E_BUSY, LAST}, {TIDINGS_E_NOMEM, LAST}, {TIDINGS_E_OUTCOME_UNKNOWN, LAST}};
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    struct tidings_plugin *plugin = with_two_promises();
    struct tidings_error error = new_error();
    commits = codes[i];
    cr_assert_eq(plugin->quiesce(plugin, &error), TIDINGS_E_BUSY, "after %d", codes[i][0]);
    cr_assert_eq(plugin->close(plugin, &error), TIDINGS_E_BUSY, "after %d", codes[i][0]);
    cr_assert(strstr(error.text, "whose settle was remembered"), "%s", error.text);
    commits = NULL;
    plugin_end(plugin);
    expect_leased("first", 0);
    expect_leased("second", 0);
  }
}

/* A store that is broken cannot keep the host from ending, and one session's row cannot keep those
 * of others from being written. */
Test(promises, that_a_broken_store_does_not_take_leave_the_others) {
  static const int broken[] = {TIDINGS_E_STORE, 0, TIDINGS_E_STORE, LAST};
  struct tidings_plugin *plugin = with_two_promises();
  struct tidings_error error = new_error();
  unsigned lines = atomic_load(&kit_log_lines);
  commits = broken;
  cr_assert_eq(plugin->close(plugin, &error), 0, "%s", error.text);
  commits = NULL;
  cr_expect_gt(atomic_load(&kit_log_lines), lines, "the log says so");
  expect_leased("first", 1);
  expect_leased("second", 0);
}

/* A store that fails again and again is a broken one. */
Test(promises, do_not_keep_a_host_from_ending) {
  static const int codes[][2] = {{TIDINGS_E_NOMEM, LAST}, {TIDINGS_E_OUTCOME_UNKNOWN, LAST}};
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    struct tidings_plugin *plugin = with_two_promises();
    struct tidings_error error = new_error();
    commits = codes[i];
    int code = TIDINGS_E_BUSY, tries = 0;
    for (; code == TIDINGS_E_BUSY && tries < 100; tries++) code = plugin->close(plugin, &error);
    commits = NULL;
    cr_expect_eq(code, 0, "%s", error.text);
    cr_expect_gt(tries, 1);
  }
}

/* A running call remembered a settle after all others had been applied. */
Test(promises, that_come_late_keep_the_instance_open) {
  for (int closes = 0; closes <= 1; closes++) {
    struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
    struct tidings_error error = new_error();
    late_delivery = leased(plugin, "first");
    before_quiesce = promise_late;
    int code = closes ? plugin->close(plugin, &error) : plugin->quiesce(plugin, &error);
    cr_assert_eq(code, TIDINGS_E_BUSY);
    cr_expect_str_eq(error.text, "a settle was remembered meanwhile; try again");
    plugin_end(plugin);
    expect_leased("first", 0);
  }
}
