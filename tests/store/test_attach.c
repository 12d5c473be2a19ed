/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_attach.c: the owner of a session: hosts that live, hosts that died, resuming,
 * closing, forked children.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "kit.h"
#include "kit_rows.h"

TestSuite(attach, .init = kit_begin, .fini = kit_end);

#define expect_event(plugin, expected, ...)                                                        \
  do {                                                                                             \
    struct tidings_error error_ = new_error();                                                     \
    int code_ = event(plugin, &error_, __VA_ARGS__);                                               \
    cr_assert_eq(code_, expected, "%d %s", code_, error_.text);                                    \
  } while (0)

static uint64_t leased(struct tidings_plugin *plugin, const char *message) {
  push(plugin, "s", message);
  struct got got = tool_result(plugin, "s");
  cr_assert_eq(got.code, 0, "%d %s", got.code, got.error.text);
  return got.delivery;
}

static struct tidings_plugin *as(const struct child *owner) {
  return plugin_at(kit_store, (struct plugin_words){.owner_pid = owner ? (uint32_t)owner->pid : 0});
}

Test(attach, a_living_owner_keeps_its_session_and_is_named) {
  struct child other = child_living();
  struct tidings_plugin *plugin = as(&other);
  (void)leased(plugin, "one");
  plugin_end(plugin);
  plugin = as(NULL);
  push(plugin, "s", "two"); /* every process may push */
  struct got got = tool_result(plugin, "s");
  char pid[32];
  (void)snprintf(pid, sizeof pid, "pid %d", (int)other.pid);
  cr_assert_eq(got.code, TIDINGS_E_OWNED);
  cr_assert(strstr(got.error.text, pid), "%s", got.error.text);
  expect_event(plugin, TIDINGS_E_OWNED, "{\"type\":\"session.closed\",\"session\":\"s\"}");
  cr_assert_eq(pending_in(store_of(plugin), "s"), 1);
  plugin_end(plugin);
  child_kill(&other);
}

Test(attach, the_hook_recovers_what_a_dead_owner_had_leased) {
  struct child other = child_living();
  struct tidings_plugin *plugin = as(&other);
  (void)leased(plugin, "one");
  (void)leased(plugin, "two");
  plugin_end(plugin);
  child_kill(&other);
  plugin = as(NULL);
  push(plugin, "s", "three");
  expect_got(tool_result(plugin, "s"), "one|two|three");
  struct arena arena = ARENA_EMPTY;
  struct head head = head_of(store_of(plugin), "s", &arena);
  cr_assert_eq(head.epoch, 2);
  cr_assert_eq(head.leased_count, 1);
  arena_free(&arena);
  plugin_end(plugin);
}

Test(attach, a_zombie_owns_nothing) {
  struct child other = child_living();
  struct tidings_plugin *plugin = as(&other);
  (void)leased(plugin, "one");
  plugin_end(plugin);
  siginfo_t info;
  cr_assert_eq(kill(other.pid, SIGKILL), 0);
  cr_assert_eq(waitid(P_PID, (id_t)other.pid, &info, WEXITED | WNOWAIT), 0); /* dead, not reaped */
  plugin = as(NULL);
  expect_got(tool_result(plugin, "s"), "one");
  plugin_end(plugin);
  child_kill(&other);
}

Test(attach, resumed_commits_what_the_transcript_names) {
  struct child other = child_living();
  struct tidings_plugin *plugin = as(&other);
  uint64_t first = leased(plugin, "one"), second = leased(plugin, "two"),
           third = leased(plugin, "three");
  (void)second;
  plugin_end(plugin);
  child_kill(&other);
  plugin = as(NULL);
  expect_event(plugin, 0,
               "{\"type\":\"session.resumed\",\"session\":\"s\",\"data\":{\"deliveries\":[\"%llu\","
               "%llu,\"4294967999\",99]}}",
               (unsigned long long)first, (unsigned long long)third);
  expect_got(tool_result(plugin, "s"), "two");
  plugin_end(plugin);
}

/* Then the id of a delivery is not its number. */
static int32_t fives(void *context, void *buffer, size_t len) {
  (void)context;
  memset(buffer, 0x55, len);
  return 0;
}

/* The row of its id is still there. */
Test(attach, resumed_commits_a_delivery_whose_row_is_lost) {
  struct child other = child_living();
  struct tidings_plugin *plugin = plugin_at(
      kit_store, (struct plugin_words){.owner_pid = (uint32_t)other.pid, .random = fives});
  uint64_t first = leased(plugin, "one");
  (void)leased(plugin, "two");
  plugin_end(plugin);
  child_kill(&other);
  plugin = as(NULL);
  struct tidings_error error = new_error();
  const struct db_key key = row_key(number_of(store_of(plugin), "s"), ROW_DELIVERY, 1);
  struct store_txn *txn;
  cr_assert_eq(store_write(store_of(plugin), NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error),
               0);
  cr_assert_eq(db_delete(txn->db, &key), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
  expect_event(
      plugin, 0,
      "{\"type\":\"session.resumed\",\"session\":\"s\",\"data\":{\"deliveries\":[\"%llu\"]}}",
      (unsigned long long)first);
  expect_got(tool_result(plugin, "s"), "two");
  plugin_end(plugin);
}

Test(attach, resumed_by_the_same_process_settles_its_own_leases_too) {
  struct tidings_plugin *plugin = as(NULL);
  uint64_t first = leased(plugin, "one");
  (void)leased(plugin, "two");
  expect_event(plugin, 0,
               "{\"type\":\"session.resumed\",\"session\":\"s\",\"data\":{\"last_delivery\":%llu}}",
               (unsigned long long)first);
  expect_got(tool_result(plugin, "s"), "two");
  plugin_end(plugin);
}

Test(attach, opened_by_a_new_process_makes_all_pending) {
  struct child other = child_living();
  struct tidings_plugin *plugin = as(&other);
  (void)leased(plugin, "one");
  plugin_end(plugin);
  child_kill(&other);
  plugin = as(NULL);
  expect_event(
      plugin, 0,
      "{\"type\":\"session.opened\",\"session\":\"s\",\"data\":{\"cwd\":\"/x\",\"host\":\"JP\"}}");
  cr_assert_eq(pending_in(store_of(plugin), "s"), 1);
  struct arena arena = ARENA_EMPTY;
  struct head head = head_of(store_of(plugin), "s", &arena);
  cr_assert(span_is(head.cwd, "/x"));
  cr_assert(span_is(head.host, "JP"));
  arena_free(&arena);
  plugin_end(plugin);
}

/* Ownership belongs to the process, not to the instance. */
Test(attach, leases_outlive_close_and_open_in_one_process) {
  struct tidings_plugin *plugin = as(NULL);
  uint64_t delivery = leased(plugin, "one");
  plugin_end(plugin);
  plugin = as(NULL);
  struct tidings_error error = new_error();
  expect_got(tool_result(plugin, "s"), "");
  cr_assert_eq(settle_as(plugin, delivery, TIDINGS_COMMITTED, &error), 0, "%s", error.text);
  plugin_end(plugin);
}

Test(attach, closing_ends_everything_once) {
  struct tidings_plugin *plugin = as(NULL);
  struct tidings_error error = new_error();
  uint64_t done = leased(plugin, "one");
  cr_assert_eq(settle_as(plugin, done, TIDINGS_COMMITTED, &error), 0);
  uint64_t open = leased(plugin, "two");
  push(plugin, "s", "three");
  expect_event(plugin, 0, "{\"type\":\"session.closed\",\"session\":\"s\"}");
  struct arena arena = ARENA_EMPTY;
  struct head head = head_of(store_of(plugin), "s", &arena);
  cr_assert_eq(head.outcomes[OUTCOME_DELIVERED], 1);
  cr_assert_eq(head.outcomes[OUTCOME_CLOSED], 2);
  cr_assert_eq(head.owner.pid, 0);
  cr_assert_eq(head.leased_count, 0);
  cr_assert_eq(head.watermark, 4);
  arena_free(&arena);
  cr_assert_eq(pending_in(store_of(plugin), "s"), 0);
  cr_assert_eq(settle_as(plugin, open, TIDINGS_COMMITTED, &error), TIDINGS_E_CLOSED, "%d %s",
               error.code, error.text);
  expect_got(tool_result(plugin, "s"), "");
  push(plugin, "s", "four"); /* a session of that name may begin again */
  expect_got(tool_result(plugin, "s"), "four");
  plugin_end(plugin);
}

Test(attach, events_with_an_id_are_done_once) {
  static const char closed[] =
      "{\"type\":\"session.closed\",\"session\":\"s\",\"source\":\"h\",\"id\":\"1\"}";
  struct tidings_plugin *plugin = as(NULL);
  push(plugin, "s", "one");
  expect_event(plugin, 0, closed);
  push(plugin, "s", "two");
  expect_event(plugin, 0, closed);
  expect_got(tool_result(plugin, "s"), "two");
  plugin_end(plugin);
}

/* An event that failed is not remembered: it may be sent again. */
Test(attach, a_failed_event_is_not_a_duplicate) {
  static const char opened[] = "{\"type\":\"session.opened\",\"session\":\"s\",\"source\":\"h\","
                               "\"id\":\"1\",\"data\":{\"cwd\":\"/new\"}}";
  struct child other = child_living();
  struct tidings_plugin *plugin = as(&other);
  (void)leased(plugin, "one");
  plugin_end(plugin);
  plugin = as(NULL);
  expect_event(plugin, TIDINGS_E_OWNED, opened);
  child_kill(&other);
  expect_event(plugin, 0, opened);
  struct arena arena = ARENA_EMPTY;
  cr_assert(span_is(head_of(store_of(plugin), "s", &arena).cwd, "/new"));
  arena_free(&arena);
  plugin_end(plugin);
}

/* -- taken over -------------------------------------------------------------------------------- */

/* Makes `owner` the session's owner while the one before lives. */
static void take_over(const struct child *owner) {
  struct tidings_plugin *plugin = as(owner);
  expect_event(plugin, 0,
               "{\"type\":\"session.opened\",\"session\":\"s\",\"data\":{\"takeover\":true}}");
  plugin_end(plugin);
}

static int hook_code(const struct child *owner) {
  struct tidings_plugin *plugin = as(owner);
  struct got got = tool_result(plugin, "s");
  plugin_end(plugin);
  return got.code;
}

Test(attach, each_of_several_former_owners_has_to_open_the_session_again) {
  struct child first = child_living(), second = child_living(), third = child_living();
  take_over(&first);
  take_over(&second);
  take_over(&third);
  cr_assert_eq(hook_code(&first), TIDINGS_E_CLOSED);
  child_kill(&third);
  cr_assert_eq(hook_code(&first), TIDINGS_E_CLOSED,
               "nobody has it now, but it was taken from this one");
  cr_assert_eq(hook_code(&second), TIDINGS_E_CLOSED);
  take_over(&first);
  cr_assert_eq(hook_code(&first), 0);
  cr_assert_eq(hook_code(&second), TIDINGS_E_CLOSED);
  child_kill(&second);
  child_kill(&first);
}

Test(attach, of_more_living_former_owners_than_fit_the_first_is_forgotten) {
  enum { OWNERS = FORMERS + 2 };
  struct child owners[OWNERS];
  for (int i = 0; i < OWNERS; i++) {
    owners[i] = child_living();
    take_over(&owners[i]);
  }
  for (int i = 1; i < OWNERS - 1; i++)
    cr_assert_eq(hook_code(&owners[i]), TIDINGS_E_CLOSED, "%d", i);
  cr_assert_eq(hook_code(&owners[0]), TIDINGS_E_OWNED, "it is a stranger now, and the owner lives");
  for (int i = 0; i < OWNERS; i++) child_kill(&owners[i]);
}

Test(attach, former_owners_that_ended_make_room_for_living_ones) {
  enum { OWNERS = FORMERS + 4 };
  struct child first = child_living(), owners[OWNERS];
  take_over(&first);
  for (int i = 0; i < OWNERS; i++) {
    owners[i] = child_living();
    take_over(&owners[i]);
    if (i > 0) child_kill(&owners[i - 1]);
  }
  child_kill(&owners[OWNERS - 1]);
  cr_assert_eq(hook_code(&first), TIDINGS_E_CLOSED);
  child_kill(&first);
}

/* -- a forked child ---------------------------------------------------------------------------- */

static int call_everything(struct child *self, void *context) {
  struct tidings_plugin *plugin = context;
  struct tidings_error error = new_error();
  const struct tidings_chat_request request = {.size = sizeof request, .session = span_text("s")};
  const struct tidings_reply *reply;
  (void)self;
  if (tool_result(plugin, "s").code != TIDINGS_E_CLOSED) return 1;
  if (plugin->on_chat_request(plugin, &request, &reply, &error) != TIDINGS_E_CLOSED) return 2;
  if (event(plugin, &error, "{\"type\":\"session.opened\",\"session\":\"s\"}") != TIDINGS_E_CLOSED)
    return 3;
  if (settle_as(plugin, 1, TIDINGS_COMMITTED, &error) != TIDINGS_E_CLOSED) return 4;
  if (plugin->quiesce(plugin, &error) != TIDINGS_E_CLOSED) return 5;
  if (plugin->close(plugin, &error) != TIDINGS_E_CLOSED) return 6;
  return 0;
}

Test(attach, in_a_forked_child_every_call_is_closed) {
  struct tidings_plugin *plugin = as(NULL);
  push(plugin, "s", "one");
  struct child child = child_start(call_everything, plugin);
  cr_assert_eq(child_wait(&child), 0);
  expect_got(tool_result(plugin, "s"), "one");
  plugin_end(plugin);
}

/* The child may open the store itself, as a process of its own. */
static int open_and_push(struct child *self, void *context) {
  struct tidings_plugin *plugin;
  struct tidings_error error = new_error();
  (void)self;
  (void)context;
  if (plugin_try(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER}, &plugin, &error))
    return 1;
  push(plugin, "s", "from the child");
  return plugin->close(plugin, &error) ? 2 : 0;
}

Test(attach, a_forked_child_may_open_the_store_for_itself) {
  struct tidings_plugin *plugin = as(NULL);
  expect_got(tool_result(plugin, "s"), "");
  struct child child = child_start(open_and_push, NULL);
  cr_assert_eq(child_wait(&child), 0);
  push(plugin, "s", "from the parent");
  expect_got(tool_result(plugin, "s"), "from the child|from the parent");
  plugin_end(plugin);
}

/* -- the quiet path ---------------------------------------------------------------------------- */

static int push_at_each_signal(struct child *self, void *context) {
  struct tidings_plugin *plugin;
  struct tidings_error error = new_error();
  (void)context;
  if (plugin_try(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER}, &plugin, &error))
    return 1;
  for (int i = 0; i < 50; i++) {
    child_await_test(self);
    push(plugin, "s", "x");
    child_signal_test(self);
  }
  return plugin->close(plugin, &error) ? 2 : 0;
}

Test(attach, a_push_of_another_process_is_seen_after_the_session_was_quiet) {
  struct child child = child_start(push_at_each_signal, NULL);
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.settle_on_return = 1});
  for (int i = 0; i < 50; i++) {
    for (int j = 0; j < 3; j++) expect_got(tool_result(plugin, "s"), "");
    child_signal(&child);
    child_await(&child);
    expect_got(tool_result(plugin, "s"), "x");
  }
  cr_assert_eq(child_wait(&child), 0);
  plugin_end(plugin);
}

Test(attach, collecting_from_a_session_that_nobody_knows_writes_nothing_for_it) {
  struct tidings_plugin *plugin = as(NULL);
  push(plugin, "box", "one");
  size_t names = rows_in(store_of(plugin), 0, ROW_NAME) + 1;
  expect_event(plugin, 0,
               "{\"type\":\"session.collected\",\"session\":\"s\",\"data\":{\"from\":"
               "[\"box\",\"unknown\"]}}");
  cr_assert_eq(rows_in(store_of(plugin), 0, ROW_NAME), names, "s is new");
  cr_assert_eq(rows_in(store_of(plugin), 0, ROW_HEAD), 0, "the head of no session");
  expect_got(tool_result(plugin, "s"), "one");
  plugin_end(plugin);
}
