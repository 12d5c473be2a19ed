/* SPDX-License-Identifier: MIT
 *
 * test_phase_races.c: a phase that is set during a write of the same host outlives that write. The
 * write comes from a thread without the session's lock, or from another process of the host. The
 * linker sends the plugin's commits here (see CMakeLists.txt).
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "kit.h"
#include "store/handle.h"
#include "values/run.h"

int __real_store_commit(struct store_txn *txn, struct tidings_error *error);
int __wrap_store_commit(struct store_txn *txn, struct tidings_error *error);
int __real_store_commit_as_read(struct store_txn *txn, bool *ret_outdated,
                                struct tidings_error *error);
int __wrap_store_commit_as_read(struct store_txn *txn, bool *ret_outdated,
                                struct tidings_error *error);

static struct tidings_plugin *owner;
static void (*before_commit)(void), (*after_commit)(void); /* once */

static void run_once(void (**work)(void)) {
  void (*now)(void) = *work;
  *work = NULL;
  if (now) now();
}

int __wrap_store_commit(struct store_txn *txn, struct tidings_error *error) {
  run_once(&before_commit);
  int code = __real_store_commit(txn, error);
  run_once(&after_commit);
  return code;
}

int __wrap_store_commit_as_read(struct store_txn *txn, bool *ret_outdated,
                                struct tidings_error *error) {
  run_once(&before_commit);
  int code = __real_store_commit_as_read(txn, ret_outdated, error);
  run_once(&after_commit);
  return code;
}

static void send_to(struct tidings_plugin *plugin, const char *type) {
  struct tidings_error error = new_error();
  int code = event(plugin, &error, "{\"type\":\"%s\",\"session\":\"s\"}", type);
  cr_assert_eq(code, 0, "%s: %s", type, error.text);
}

static void begin(void) {
  kit_begin();
  owner = plugin_at(kit_store, (struct plugin_words){0});
  send_to(owner, "turn.started");
  send_to(owner, "tools.started");
}

static void end(void) {
  cr_assert(!before_commit && !after_commit, "nothing was committed");
  plugin_end(owner);
  kit_end();
}

TestSuite(phase_races, .init = begin, .fini = end);

static void expect_status(const char *words) {
  char *status = ask(owner, "{\"name\":\"status\",\"session\":\"s\"}");
  cr_assert(strstr(status, words), "%s is not in %s", words, status);
  free(status);
}

static unsigned stored_phase(void) {
  struct arena arena = ARENA_EMPTY;
  unsigned phase = head_of(store_of(owner), "s", &arena).run.phase;
  arena_free(&arena);
  return phase;
}

/* -- another process of the host --------------------------------------------------------------- */

struct helping {
  const char *type; /* of the event that it sends; NULL: it asks for a tool result */
  bool after;       /* it stops after its commit, not before it */
};
static const struct child *itself;

static void stop(void) {
  child_signal_test(itself);
  child_await_test(itself);
}

static int help(struct child *self, void *context) {
  const struct helping *helping = context;
  struct tidings_plugin *plugin;
  struct tidings_error error = new_error();
  int code = 0;
  itself = self;
  if (plugin_try(kit_store, (struct plugin_words){.owner_pid = (uint32_t)getppid()}, &plugin,
                 &error))
    return 1;
  *(helping->after ? &after_commit : &before_commit) = stop;
  if (helping->type)
    code = event(plugin, &error, "{\"type\":\"%s\",\"session\":\"s\"}", helping->type);
  else code = tool_result(plugin, "s").code;
  if (code || before_commit || after_commit) return 2;
  plugin_end(plugin);
  return 0;
}

/* `meanwhile` happens at the helper's commit. */
static void expect_helped(struct helping helping, void (*meanwhile)(void)) {
  struct child child = child_start(help, &helping);
  child_await(&child);
  meanwhile();
  child_signal(&child);
  cr_assert_eq(child_wait(&child), 0, "the helper");
}

static void stream(void) { send_to(owner, "stream.started"); }

static void start_and_stream(void) {
  send_to(owner, "turn.started");
  send_to(owner, "stream.started");
}

Test(phase_races, the_end_of_a_turn_leaves_the_phase_of_the_next) {
  expect_helped((struct helping){.type = "turn.finished", .after = true}, start_and_stream);
  expect_status("\"phase\":\"streaming\"");
}

Test(phase_races, the_start_of_a_turn_leaves_its_newer_phase) {
  send_to(owner, "turn.finished");
  expect_helped((struct helping){.type = "turn.started", .after = true}, stream);
  expect_status("\"phase\":\"streaming\"");
}

Test(phase_races, a_phase_that_is_committed_leaves_a_newer_one) {
  stream();
  send_to(owner, "stream.finished");
  push(owner, "s", "one");
  expect_helped((struct helping){.type = NULL}, stream);
  expect_status("\"phase\":\"streaming\"");
}

Test(phase_races, a_carrier_leaves_a_phase_that_is_newer_than_its_plan) {
  push(owner, "s", "one");
  expect_helped((struct helping){.type = NULL}, stream);
  expect_status("\"phase\":\"streaming\"");
}

/* -- another thread of the host ---------------------------------------------------------------- */

static void report_handle(const char *type, const char *rest) {
  struct tidings_error error = new_error();
  int code = event(owner, &error,
                   "{\"type\":\"%s\",\"session\":\"s\",\"data\":{\"handle\":\"h\"%s}}", type, rest);
  cr_assert_eq(code, 0, "%s: %s", type, error.text);
}

static void *stream_in_thread(void *context) {
  (void)context;
  stream();
  return NULL;
}

/* In another thread, because this one has the open write. */
static void stream_elsewhere(void) {
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, stream_in_thread, NULL), 0);
  cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* A poll withdraws what waits for the handle, which writes the session's head. */
Test(phase_races, a_report_leaves_a_newer_phase) {
  report_handle("handle.state", ",\"tool\":\"b\",\"state\":\"waiting\"");
  before_commit = stream_elsewhere;
  report_handle("handle.polled", "");
  expect_status("\"phase\":\"streaming\"");
}

/* Otherwise the owner, if it is in the stored phase again, would not know that it must commit that
 * phase for other machines. */
Test(phase_races, a_report_stores_no_phase_that_it_only_read) {
  report_handle("handle.state", ",\"tool\":\"b\",\"state\":\"waiting\"");
  unsigned before = stored_phase();
  before_commit = stream_elsewhere;
  report_handle("handle.polled", "");
  cr_assert_eq(stored_phase(), before);
}

/* -- what holds without a race ----------------------------------------------------------------- */

Test(phase_races, an_event_of_the_owner_stores_the_phase_that_it_read) {
  struct tidings_error error = new_error();
  cr_assert_eq(event(owner, &error,
                     "{\"type\":\"message.submitted\",\"session\":\"s\",\"data\":{\"id\":\"m\","
                     "\"content\":\"Go.\"}}"),
               0);
  cr_assert_eq(stored_phase(), PHASE_TOOLS);
}

/* A thread that read the session before the turn ended may have set the phase after that. */
Test(phase_races, a_new_turn_has_no_phase_of_the_one_before) {
  struct store *store = store_of(owner);
  uint32_t number = number_of(store, "s");
  send_to(owner, "turn.finished");
  cr_assert(store_phase_set(store, number, 1, store_self(store), PHASE_STREAMING));
  send_to(owner, "turn.started");
  expect_status("\"state\":\"busy\"");
  uint64_t word;
  cr_assert_lt(store_phase(store, number, 1, &word), 1, "it has a phase");
}
