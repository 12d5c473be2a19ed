/* SPDX-License-Identifier: MIT
 *
 * test_phases.c: a phase of a running turn costs no commit, and every process sees it.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "kit.h"
#include "store/handle.h"

TestSuite(phases, .init = kit_begin, .fini = kit_end);

enum { SESSION = 7, EPOCH = 3, PHASE = 2 };

static int phase_in(struct store *store, uint32_t session, uint64_t epoch) {
  uint64_t word;
  return store_phase(store, session, epoch, &word);
}

static uint64_t word_in(struct store *store) {
  uint64_t word;
  (void)store_phase(store, SESSION, EPOCH, &word);
  return word;
}

Test(phases, a_word_is_that_of_one_session_under_one_epoch) {
  struct store *store = store_at(kit_store);
  cr_assert_eq(phase_in(store, SESSION, EPOCH), -1, "before it was set");
  cr_assert(store_phase_set(store, SESSION, EPOCH, store_self(store), PHASE));
  cr_assert_eq(phase_in(store, SESSION, EPOCH), PHASE);
  cr_assert_eq(phase_in(store, SESSION, EPOCH + 1), -1, "what a former owner left is void");
  cr_assert_eq(phase_in(store, SESSION + STORE_PHASES, EPOCH), -1, "another session's");
  cr_assert(!store_phase_set(store, SESSION + STORE_PHASES, EPOCH, store_self(store), 0),
            "the word is taken");
  cr_assert(store_phase_set(store, SESSION, EPOCH + 1, store_self(store), 0), "the next owner's");
  cr_assert(!store_phase_set(store, SESSION, EPOCH, store_self(store), PHASE), "it was taken over");
  cr_assert_eq(phase_in(store, SESSION, EPOCH + 1), 0);
  store_close(store);
}

Test(phases, a_commit_replaces_only_the_word_that_it_read) {
  struct store *store = store_at(kit_store);
  store_phase_replace(store, SESSION, EPOCH, word_in(store), PHASE);
  cr_assert_eq(phase_in(store, SESSION, EPOCH), -1, "what is committed needs no word");
  cr_assert(store_phase_set(store, SESSION, EPOCH, store_self(store), PHASE));
  uint64_t before = word_in(store);
  store_phase_replace(store, SESSION + STORE_PHASES, EPOCH, before, 0);
  cr_assert_eq(phase_in(store, SESSION, EPOCH), PHASE, "another session replaced it");
  store_phase_replace(store, SESSION, EPOCH, before, 0);
  cr_assert_eq(phase_in(store, SESSION, EPOCH), 0);
  store_phase_replace(store, SESSION, EPOCH, before, 1);
  cr_assert_eq(phase_in(store, SESSION, EPOCH), 0, "it was newer");
  store_phase_replace(store, SESSION, EPOCH - 1, word_in(store), 1);
  cr_assert_eq(phase_in(store, SESSION, EPOCH), 0, "it was a later owner's");
  store_phase_replace(store, SESSION, EPOCH + 1, word_in(store), 1);
  cr_assert_eq(word_in(store), 0, "a former owner's is free");
  cr_assert(store_phase_set(store, SESSION, EPOCH, store_self(store), PHASE));
  store_phase_replace(store, SESSION, EPOCH, word_in(store), -1);
  cr_assert(store_phase_set(store, SESSION + STORE_PHASES, EPOCH, store_self(store), 1),
            "it is free again");
  store_close(store);
}

/* -- in a turn --------------------------------------------------------------------------------- */

static void send(struct tidings_plugin *plugin, const char *type) {
  struct tidings_error error = new_error();
  int code = event(plugin, &error, "{\"type\":\"%s\",\"session\":\"s\"}", type);
  cr_assert_eq(code, 0, "%s: %s", type, error.text);
}

static uint64_t generation_of(struct tidings_plugin *plugin) {
  struct arena arena = ARENA_EMPTY;
  uint64_t generation = head_of(store_of(plugin), "s", &arena).generation;
  arena_free(&arena);
  return generation;
}

static int says_phase(const char *store, const char *phase) {
  struct tidings_plugin *plugin =
      plugin_at(store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER});
  char *status = ask(plugin, "{\"name\":\"status\",\"session\":\"s\"}");
  int says = strstr(status, phase) != NULL;
  free(status);
  plugin_end(plugin);
  return says;
}

static int sees_tools(struct child *self, void *context) {
  (void)self;
  (void)context;
  return says_phase(kit_store, "\"phase\":\"tools\"") ? 0 : 1;
}

static int submits(struct child *self, void *context) {
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_PRODUCER});
  struct tidings_error error = new_error();
  (void)self;
  (void)context;
  int code = event(plugin, &error,
                   "{\"type\":\"message.submitted\",\"session\":\"s\",\"data\":{\"id\":\"m\","
                   "\"content\":\"Go.\"}}");
  plugin_end(plugin);
  return code ? 1 : 0;
}

static bool status_has(struct tidings_plugin *plugin, const char *words) {
  char *status = ask(plugin, "{\"name\":\"status\",\"session\":\"s\"}");
  bool has = strstr(status, words) != NULL;
  free(status);
  return has;
}

Test(phases, a_phase_is_not_committed_and_every_process_sees_it) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  send(plugin, "turn.started");
  uint64_t before = generation_of(plugin);
  send(plugin, "stream.started");
  cr_assert(status_has(plugin, "\"phase\":\"streaming\""));
  send(plugin, "tools.started");
  send(plugin, "wake");
  cr_assert_eq(generation_of(plugin), before, "a phase was committed");
  struct child child = child_start(sees_tools, NULL);
  cr_assert_eq(child_wait(&child), 0, "another process sees another phase");
  child = child_start(submits, NULL);
  cr_assert_eq(child_wait(&child), 0);
  cr_assert_gt(generation_of(plugin), before);
  cr_assert(status_has(plugin, "\"phase\":\"tools\""), "lost by what another process wrote");
  send(plugin, "turn.finished");
  send(plugin, "turn.started");
  cr_assert(!status_has(plugin, "\"phase\""), "a new turn has the phase of the one before");
  plugin_end(plugin);
}

Test(phases, a_tool_result_ends_the_streaming_though_nothing_is_pending) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  send(plugin, "turn.started");
  send(plugin, "tools.started");
  expect_got(tool_result(plugin, "s"), "");
  expect_got(tool_result(plugin, "s"), "");
  uint64_t before = generation_of(plugin);
  send(plugin, "stream.started");
  cr_assert(status_has(plugin, "\"phase\":\"streaming\""));
  expect_got(tool_result(plugin, "s"), "");
  cr_assert(status_has(plugin, "\"phase\":\"tools\""), "the session was still taken for quiet");
  cr_assert_eq(generation_of(plugin), before, "a phase was committed");
  plugin_end(plugin);
}

Test(phases, a_commit_in_a_turn_leaves_the_word_to_who_has_a_snapshot_of_before) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_error error = new_error();
  send(plugin, "turn.started");
  send(plugin, "stream.started");
  uint64_t before = generation_of(plugin);
  cr_assert_eq(event(plugin, &error,
                     "{\"type\":\"message.submitted\",\"session\":\"s\",\"data\":{\"id\":\"m\","
                     "\"content\":\"Go.\"}}"),
               0);
  cr_assert_gt(generation_of(plugin), before);
  uint32_t number = number_of(store_of(plugin), "s");
  cr_assert_eq(phase_in(store_of(plugin), number, 1), 1, "streaming");
  send(plugin, "turn.finished");
  cr_assert_eq(phase_in(store_of(plugin), number, 1), -1);
  plugin_end(plugin);
}

Test(phases, a_word_that_is_taken_costs_a_commit) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  send(plugin, "turn.started");
  uint32_t number = number_of(store_of(plugin), "s");
  uint64_t before = generation_of(plugin);
  cr_assert(
      store_phase_set(store_of(plugin), number + STORE_PHASES, 1, store_self(store_of(plugin)), 0));
  send(plugin, "stream.started");
  cr_assert_gt(generation_of(plugin), before);
  cr_assert(status_has(plugin, "\"phase\":\"streaming\""));
  plugin_end(plugin);
}
