/* SPDX-License-Identifier: MIT
 *
 * test_calls.c: a host reports running tool calls without a commit, every process sees them, and
 * they do not count once the owner is dead.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"
#include "store/db/lmdb/engine.h"
#include "store/handle.h"

TestSuite(calls, .init = kit_begin, .fini = kit_end);

enum { SESSION = 7, EPOCH = 3 };

/* -- the places -------------------------------------------------------------------------------- */

static struct calls_of whose_calls(struct store *store, uint32_t session, int64_t now_ms) {
  return (struct calls_of){
      .session = session, .epoch = EPOCH, .owner = store_self(store), .now_ms = now_ms};
}

struct said_call {
  const char *tool, *call_id;
  int64_t from_ms, to_ms; /* to_ms 0: it runs */
};

static bool add_call(void *context, struct memory *calls) {
  struct said_call *said = context;
  calls->calls[calls->call_count++] = (struct tool_call){.call_id = span_text(said->call_id),
                                                         .tool = span_text(said->tool),
                                                         .from_ms = said->from_ms,
                                                         .to_ms = said->to_ms,
                                                         .over = said->to_ms != 0};
  return true;
}

static bool end_all(void *context, struct memory *calls) {
  const int64_t *now_ms = context;
  for (size_t i = 0; i < calls->call_count; i++) {
    calls->calls[i].over = true;
    calls->calls[i].to_ms = *now_ms;
  }
  return true;
}

static bool list_calls(void *context, struct memory *calls) {
  char *text = context;
  for (size_t i = 0; i < calls->call_count; i++) {
    size_t len = strlen(text);
    (void)snprintf(text + len, 512 - len, "%.*s %lld-%lld;", SPAN_FORMAT(calls->calls[i].tool),
                   (long long)calls->calls[i].from_ms, (long long)calls->calls[i].to_ms);
  }
  return false;
}

/* Returns "none" if the session has no calls of this epoch. */
static const char *calls_of_epoch(struct store *store, uint32_t session, uint64_t epoch) {
  static char text[512];
  struct calls_of whose = {.session = session, .epoch = epoch};
  text[0] = '\0';
  return store_calls(store, &whose, list_calls, text) ? text : "none";
}

Test(calls, a_place_is_that_of_one_session_under_one_epoch) {
  struct store *store = store_at(kit_store);
  struct calls_of mine = whose_calls(store, SESSION, 1000),
                  other = whose_calls(store, SESSION + STORE_CALL_PLACES, 1000);
  struct said_call bash = {.tool = "bash", .call_id = "c1", .from_ms = 1000};
  int64_t now_ms = 2000;
  cr_assert(!store_calls_any(store, SESSION));
  cr_assert_str_eq(calls_of_epoch(store, SESSION, EPOCH), "none");
  cr_assert(store_calls(store, &mine, add_call, &bash));
  cr_assert(store_calls_any(store, SESSION) && !store_calls_any(store, other.session));
  cr_assert_str_eq(calls_of_epoch(store, SESSION, EPOCH), "bash 1000-0;");
  cr_assert_str_eq(calls_of_epoch(store, SESSION, EPOCH + 1), "none", "a former owner's");
  cr_assert(!store_calls(store, &other, add_call, &bash), "it is taken while a call runs");
  mine.epoch--;
  cr_assert(!store_calls(store, &mine, end_all, &now_ms), "the session was taken over");
  mine.epoch++;
  cr_assert(store_calls(store, &mine, end_all, &now_ms));
  other.now_ms = 3000;
  cr_assert(!store_calls(store, &other, add_call, &bash), "a watcher may still ask");
  other.now_ms = 60000;
  cr_assert(store_calls(store, &other, add_call, &bash), "nobody asks any more");
  cr_assert_str_eq(calls_of_epoch(store, SESSION, EPOCH), "none");
  store_close(store);
}

Test(calls, what_does_not_fit_is_refused_and_changes_nothing) {
  static const char long_name[] = "a_tool_whose_name_is_longer_than_a_place_has_room_for_if_one_"
                                  "adds_the_id_of_its_call_which_is_two_bytes_long";
  struct store *store = store_at(kit_store);
  struct calls_of mine = whose_calls(store, SESSION, 1000);
  struct said_call bash = {.tool = "bash", .call_id = "c1", .from_ms = 1000},
                   other = {.tool = long_name, .call_id = "c2", .from_ms = 1001};
  cr_assert(store_calls(store, &mine, add_call, &bash));
  cr_assert(!store_calls(store, &mine, add_call, &other));
  cr_assert_str_eq(calls_of_epoch(store, SESSION, EPOCH), "bash 1000-0;");
  store_close(store);
}

Test(calls, a_place_that_was_being_written_is_emptied) {
  struct store *store = store_at(kit_store);
  struct calls_of mine = whose_calls(store, SESSION, 1000);
  struct said_call bash = {.tool = "bash", .call_id = "c1", .from_ms = 1000};
  struct call_place *place = &store->db->shared.places.calls[SESSION % STORE_CALL_PLACES];
  cr_assert(store_calls(store, &mine, add_call, &bash));
  atomic_store(&place->writing, 1);
  cr_assert_str_eq(calls_of_epoch(store, SESSION, EPOCH), "none");
  cr_assert(store_calls(store, &mine, add_call, &bash));
  place->calls[0].tool_len = CALL_TEXT_BYTES;
  cr_assert_str_eq(calls_of_epoch(store, SESSION, EPOCH), "none");
  cr_assert(store_calls(store, &mine, add_call, &bash));
  place->count = PLACE_CALLS + 1;
  cr_assert(store_calls(store, &mine, add_call, &bash));
  cr_assert_str_eq(calls_of_epoch(store, SESSION, EPOCH), "bash 1000-0;");
  store_close(store);
}

/* -- killed ------------------------------------------------------------------------------------ */

/* Adds a call whose tool, id and time have the same number; the calls before it must be sound. */
static bool add_numbered(void *context, struct memory *calls) {
  static char names[MEMORY_CALLS + 1][16];
  int64_t number = *(int64_t *)context;
  calls->call_count = (size_t)(number % MEMORY_CALLS);
  for (size_t i = 0; i < calls->call_count; i++) {
    (void)snprintf(names[i], sizeof names[i], "t%lld", (long long)number);
    struct tool_call *call = &calls->calls[i];
    *call = (struct tool_call){.tool = span_text(names[i]), .from_ms = number, .to_ms = number};
    call->call_id = span_of((const char *)context, sizeof number);
  }
  return true;
}

static int writes_for_ever(struct child *self, void *context) {
  struct store *store = store_at(kit_store);
  (void)context;
  child_signal_test(self);
  for (int64_t number = 1;; number++) {
    struct calls_of mine = whose_calls(store, SESSION, number);
    if (!store_calls(store, &mine, add_numbered, &number)) return 1;
  }
}

struct numbered {
  bool same;
  size_t count;
};

static bool check_numbered(void *context, struct memory *calls) {
  struct numbered *found = context;
  found->count = calls->call_count;
  for (size_t i = 0; i < calls->call_count; i++) {
    const struct tool_call *call = &calls->calls[i];
    char name[16];
    (void)snprintf(name, sizeof name, "t%lld", (long long)call->from_ms);
    found->same &= span_is(call->tool, name) && call->to_ms == call->from_ms &&
                   memcmp(call->call_id.ptr, &call->from_ms, sizeof call->from_ms) == 0 &&
                   (size_t)(call->from_ms % MEMORY_CALLS) == calls->call_count;
  }
  return false;
}

Test(calls, a_killed_writer_leaves_no_torn_calls_and_no_lock) {
  enum { KILLS = 300 };
  struct store *store = store_at(kit_store);
  struct random random = {.state = 1};
  size_t seen = 0;
  for (int i = 0; i < KILLS; i++) {
    struct child child = child_start(writes_for_ever, NULL);
    struct calls_of look = {.session = SESSION, .epoch = EPOCH};
    child_await(&child);
    for (size_t spins = random_below(&random, 20000); spins > 0; spins--)
      atomic_thread_fence(memory_order_seq_cst);
    child_kill(&child);
    struct numbered found = {.same = true};
    if (store_calls(store, &look, check_numbered, &found)) seen += found.count > 0;
    cr_assert(found.same, "torn after kill %d", i);
    struct calls_of mine = whose_calls(store, SESSION, i);
    struct said_call bash = {.tool = "bash", .call_id = "c1", .from_ms = 1000};
    int64_t none = MEMORY_CALLS;
    cr_assert(store_calls(store, &mine, add_numbered, &none), "the lock is gone");
    cr_assert(store_calls(store, &mine, add_call, &bash));
    cr_assert_str_eq(calls_of_epoch(store, SESSION, EPOCH), "bash 1000-0;");
    cr_assert(store_calls(store, &mine, add_numbered, &none));
  }
  cr_assert_gt(seen, 0, "none was killed while there were calls");
  store_close(store);
}

static int holds_the_lock(struct child *self, void *context) {
  struct store *store = store_at(kit_store);
  pthread_mutex_lock(&store->db->shared.places.locks[*(const uint32_t *)context]);
  child_signal_test(self);
  child_await_test(self);
  return 0;
}

Test(calls, a_stopped_process_with_the_lock_delays_nobody_and_a_dead_one_gives_it_back) {
  struct store *store = store_at(kit_store);
  struct calls_of mine = whose_calls(store, SESSION, 1000);
  struct said_call bash = {.tool = "bash", .call_id = "c1", .from_ms = 1000};
  uint32_t lock = SESSION % STORE_CALL_LOCKS;
  struct child child = child_start(holds_the_lock, &lock);
  child_await(&child);
  cr_assert(!store_calls(store, &mine, add_call, &bash), "it has to be committed then");
  child_kill(&child);
  cr_assert(store_calls(store, &mine, add_call, &bash));
  store_close(store);
}

/* -- in a turn --------------------------------------------------------------------------------- */

static void send_event(struct tidings_plugin *plugin, const char *type, const char *data) {
  struct tidings_error error = new_error();
  int code = event(plugin, &error, "{\"type\":\"%s\",\"session\":\"s\"%s%s}", type,
                   data ? ",\"data\":" : "", data ? data : "");
  cr_assert_eq(code, 0, "%s: %s", type, error.text);
}

static uint32_t commits_of(struct tidings_plugin *plugin) { return store_of(plugin)->db->commits; }

static void expect_pending(struct tidings_plugin *plugin, const char *words) {
  char *pending = ask(plugin, "{\"name\":\"pending\",\"session\":\"s\"}");
  cr_assert(strstr(pending, words), "no \"%s\" in %s", words, pending);
  free(pending);
}

static int reports_a_file(struct child *self, void *context) {
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER});
  (void)self;
  send_event(plugin, "file.changed", context);
  plugin_end(plugin);
  return 0;
}

static void another_reports(const char *data) {
  struct child child = child_start(reports_a_file, (void *)(uintptr_t)data);
  cr_assert_eq(child_wait(&child), 0);
}

Test(calls, a_shell_costs_no_commit_and_a_watcher_sees_it_run) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  send_event(plugin, "turn.started", NULL);
  uint32_t before = commits_of(plugin);
  for (int i = 0; i < 40; i++) {
    send_event(plugin, "stream.started", NULL);
    send_event(plugin, "tools.started", "{\"tool\":\"bash\",\"call_id\":\"c1\"}");
    send_event(plugin, "tools.finished", "{\"call_id\":\"c1\"}");
    expect_got(tool_result(plugin, "s"), "");
  }
  cr_assert_eq(commits_of(plugin), before, "%u commits in 40 calls", commits_of(plugin) - before);
  send_event(plugin, "tools.started", "{\"tool\":\"bash\",\"call_id\":\"c2\"}");
  another_reports("{\"path\":\"a.c\"}");
  expect_pending(plugin, "`a.c` was modified while bash ran.");
  kit_now_ms += 1;
  send_event(plugin, "turn.finished", NULL);
  kit_now_ms += 1;
  another_reports("{\"path\":\"b.c\"}");
  expect_pending(plugin, "`b.c` was modified externally.");
  plugin_end(plugin);
}

Test(calls, an_end_that_a_stopped_process_keeps_out_is_not_lost) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  send_event(plugin, "turn.started", NULL);
  uint32_t lock = number_of(store_of(plugin), "s") % STORE_CALL_LOCKS;
  send_event(plugin, "tools.started", "{\"tool\":\"bash\",\"call_id\":\"c1\"}");
  another_reports("{\"path\":\"a.c\"}");
  expect_pending(plugin, "`a.c` was modified while bash ran.");
  struct child child = child_start(holds_the_lock, &lock);
  child_await(&child);
  send_event(plugin, "tools.finished", "{\"call_id\":\"c1\"}");
  child_kill(&child);
  kit_now_ms += 1;
  another_reports("{\"path\":\"b.c\"}");
  expect_pending(plugin, "`b.c` was modified externally.");
  send_event(plugin, "tools.started", "{\"tool\":\"make\",\"call_id\":\"c2\"}");
  another_reports("{\"path\":\"c.c\"}");
  expect_pending(plugin, "`c.c` was modified while make ran.");
  plugin_end(plugin);
}

struct forgetting {
  struct store *store;
  struct said_call *said;
};

/* Acts like a process that is stopped between reading and writing. */
static bool forget_and_add(void *context, struct memory *calls) {
  struct forgetting *forgetting = context;
  store_calls_forget(forgetting->store, SESSION);
  return add_call(forgetting->said, calls);
}

Test(calls, what_was_forgotten_stays_forgotten_by_who_writes_it_just_then) {
  struct store *store = store_at(kit_store);
  struct calls_of mine = whose_calls(store, SESSION, 1000);
  struct said_call bash = {.tool = "bash", .call_id = "c1", .from_ms = 1000};
  cr_assert(store_calls(store, &mine, add_call, &bash));
  store_calls_forget(store, SESSION + STORE_CALL_PLACES);
  cr_assert_str_eq(calls_of_epoch(store, SESSION, EPOCH), "bash 1000-0;", "not that one's");
  cr_assert(store_calls(store, &mine, forget_and_add, &(struct forgetting){store, &bash}));
  cr_assert_str_eq(calls_of_epoch(store, SESSION, EPOCH), "none");
  store_close(store);
}

Test(calls, where_there_is_no_place_a_call_is_committed) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  send_event(plugin, "turn.started", NULL);
  struct store *store = store_of(plugin);
  struct calls_of other =
      whose_calls(store, number_of(store, "s") + STORE_CALL_PLACES, (int64_t)kit_now_ms);
  struct said_call bash = {.tool = "bash", .call_id = "c", .from_ms = 1};
  cr_assert(store_calls(store, &other, add_call, &bash));
  uint32_t before = commits_of(plugin);
  send_event(plugin, "tools.started", "{\"tool\":\"make\",\"call_id\":\"c1\"}");
  cr_assert_eq(commits_of(plugin), before + 1);
  another_reports("{\"path\":\"a.c\"}");
  expect_pending(plugin, "`a.c` was modified while make ran.");
  send_event(plugin, "tools.finished", "{\"call_id\":\"c1\"}");
  cr_assert_eq(commits_of(plugin), before + 2);
  plugin_end(plugin);
}

static int runs_a_call(struct child *self, void *context) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  (void)context;
  send_event(plugin, "turn.started", NULL);
  send_event(plugin, "tools.started", "{\"tool\":\"bash\",\"call_id\":\"c1\"}");
  child_signal_test(self);
  child_await_test(self);
  return 0;
}

Test(calls, a_dead_owners_calls_mean_nothing) {
  struct child child = child_start(runs_a_call, NULL);
  child_await(&child);
  another_reports("{\"path\":\"a.c\"}");
  child_kill(&child);
  another_reports("{\"path\":\"b.c\"}");
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  expect_pending(plugin, "`a.c` was modified while bash ran.");
  expect_pending(plugin, "`b.c` was modified externally.");
  plugin_end(plugin);
}
