/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_attach_race.c: while this process attaches to a session, another one creates it:
 * after this one did not find it, and before the write that adds it. Or, while this process reports
 * a turn's end, another one starts a turn. The linker sends the plugin's calls of store_write here
 * (see CMakeLists.txt).
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "kit.h"

TestSuite(attach_race, .init = kit_begin, .fini = kit_end);

int __real_store_write(struct store *store, const struct db_scope *scope, store_deadline deadline,
                       struct store_txn **ret_txn, struct tidings_error *error);
int __wrap_store_write(struct store *store, const struct db_scope *scope, store_deadline deadline,
                       struct store_txn **ret_txn, struct tidings_error *error);

/* The call that another process makes before the next write of this one; NULL: nothing. */
static int (*meanwhile)(struct child *self, void *context);
static int passes_ms; /* how much time passes before that call */

int __wrap_store_write(struct store *store, const struct db_scope *scope, store_deadline deadline,
                       struct store_txn **ret_txn, struct tidings_error *error) {
  int (*work)(struct child *, void *) = meanwhile;
  meanwhile = NULL;
  if (work) {
    kit_now_ms += passes_ms;
    struct child child = child_start(work, NULL);
    cr_assert_eq(child_wait(&child), 0, "what the other process did");
  }
  return __real_store_write(store, scope, deadline, ret_txn, error);
}

/* Opens the session, starts a turn in it, leases something, and ends without settling. */
static int create_and_die(struct child *self, void *context) {
  struct tidings_plugin *plugin;
  struct tidings_error error = new_error();
  (void)self;
  (void)context;
  if (plugin_try(kit_store, (struct plugin_words){.role = TIDINGS_ROLE_HOST}, &plugin, &error))
    return 1;
  if (event(plugin, &error, "{\"type\":\"session.opened\",\"session\":\"s\"}")) return 2;
  if (event(plugin, &error, "{\"type\":\"turn.started\",\"session\":\"s\"}")) return 3;
  push(plugin, "s", "one");
  struct got got = tool_result(plugin, "s");
  return got.code == 0 && got.count == 1 ? 0 : 4;
}

static struct tidings_plugin *holding_plugin(void) {
  return plugin_at(kit_store,
                   (struct plugin_words){.configuration = "{\"turns\":{\"restart\":\"hold\"}}"});
}

static void expect_state(struct tidings_plugin *plugin, const char *state) {
  char *status = ask(plugin, "{\"name\":\"status\",\"session\":\"s\"}");
  cr_assert(strstr(status, state), "%s is not in %s", state, status);
  free(status);
}

/* The dead process's run is held, as this instance's configuration says. */
Test(attach_race, a_hook_attaches_to_a_session_created_at_that_moment) {
  struct tidings_plugin *plugin = holding_plugin();
  meanwhile = create_and_die;
  expect_got(tool_result(plugin, "s"), "one");
  cr_assert_null(meanwhile, "the session was known before");
  expect_state(plugin, "\"state\":\"error\"");
  plugin_end(plugin);
}

Test(attach_race, an_event_attaches_to_a_session_created_at_that_moment) {
  struct tidings_plugin *plugin = holding_plugin();
  struct tidings_error error = new_error();
  meanwhile = create_and_die;
  cr_assert_eq(event(plugin, &error, "{\"type\":\"session.opened\",\"session\":\"s\"}"), 0, "%s",
               error.text);
  cr_assert_null(meanwhile, "the event was handled without a write");
  expect_state(plugin, "\"state\":\"error\"");
  expect_got(tool_result(plugin, "s"), "one");
  plugin_end(plugin);
}

enum { LATER_MS = 1000 };

/* As another process of the same host, a little later. */
static int start_later(struct child *self, void *context) {
  const struct plugin_words words = {.owner_pid = (uint32_t)getppid()};
  struct tidings_plugin *plugin;
  struct tidings_error error = new_error();
  (void)self;
  (void)context;
  if (plugin_try(kit_store, words, &plugin, &error)) return 1;
  return event(plugin, &error,
               "{\"type\":\"turn.started\",\"session\":\"s\",\"data\":{\"at\":%lld}}",
               (long long)kit_now_ms);
}

/* The clock was not set back, though this call began before the turn. */
Test(attach_race, an_abort_leaves_a_turn_that_started_at_that_moment) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_error error = new_error();
  long long first_ms = kit_now_ms;
  cr_assert_eq(event(plugin, &error, "{\"type\":\"turn.started\",\"session\":\"s\"}"), 0);
  meanwhile = start_later;
  passes_ms = LATER_MS;
  cr_assert_eq(event(plugin, &error,
                     "{\"type\":\"turn.aborted\",\"session\":\"s\",\"data\":{\"at\":%lld}}",
                     first_ms),
               0, "%s", error.text);
  cr_assert_null(meanwhile, "the event was handled without a write");
  expect_state(plugin, "\"state\":\"busy\"");
  plugin_end(plugin);
}
