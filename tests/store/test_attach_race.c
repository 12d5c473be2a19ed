/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_attach_race.c: another process creates the session while this one attaches to
 * it: after this one has not found the session, and before the write that adds it. The linker sends
 * the plugin's calls of store_write here (see CMakeLists.txt).
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "kit.h"

TestSuite(attach_race, .init = kit_begin, .fini = kit_end);

int __real_store_write(struct store *store, const struct db_scope *scope, store_deadline deadline,
                       struct store_txn **ret_txn, struct tidings_error *error);
int __wrap_store_write(struct store *store, const struct db_scope *scope, store_deadline deadline,
                       struct store_txn **ret_txn, struct tidings_error *error);

/* The call that another process makes before the next write of this one; NULL: nothing. */
static int (*meanwhile)(struct child *self, void *context);

int __wrap_store_write(struct store *store, const struct db_scope *scope, store_deadline deadline,
                       struct store_txn **ret_txn, struct tidings_error *error) {
  int (*work)(struct child *, void *) = meanwhile;
  meanwhile = NULL;
  if (work) {
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

/* The run that the dead process left behind is held, as this instance's configuration says. */
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
