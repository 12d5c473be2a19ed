/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_migrate.c: a store of an older layout becomes a new one.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "maintenance_kit.h"

TestSuite(migrate, .init = kit_begin, .fini = kit_end, .timeout = 300);

Test(migrate, a_store_of_an_older_layout_is_migrated) {
  const struct store_options options = {.directory = kit_store};
  make_store();
  struct store *store = store_at(kit_store);
  put_layout(store, DB_LAYOUT_FIRST_ROWS);
  store_close(store);
  expect_refused(store_open(&options, &store, &why), TIDINGS_E_STORE, "tidings store migrate");
  expect_done(maintenance_check(kit_store, &report, &why));
  cr_assert_eq(report.finding_count, 1);
  cr_assert(strstr(report.findings[0].text, "layout 2"), "%s", report.findings[0].text);

  expect_done(maintenance_migrate(kit_store, to_path(), &report, &why));
  cr_assert_eq(report.layout, DB_LAYOUT_FIRST_ROWS);
  cr_assert_eq(report.left_out, 0);
  cr_assert_eq(report.notifications, 405);
  expect_sound(to_path());
  expect_pending(to_path(), "s", 370);

  struct tidings_plugin *plugin = plugin_at(to_path(), (struct plugin_words){0});
  struct got got = tool_result(plugin, "s"); /* what was leased comes back */
  cr_assert_eq(got.code, 0, "%s", got.error.text);
  plugin_end(plugin);
  expect_pending(to_path(), "s", 380 - got.count);
}

Test(migrate, a_layout_that_no_release_has_written_is_refused) {
  make_store();
  struct store *store = store_at(kit_store);
  put_layout(store, DB_LAYOUT_FIRST_ROWS - 1);
  store_close(store);
  expect_refused(maintenance_migrate(kit_store, to_path(), &report, &why), TIDINGS_E_STORE,
                 "tidings store salvage");
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  cr_assert_eq(report.notifications, 405);
}

Test(migrate, a_damaged_store_is_not_migrated_but_salvaged) {
  make_store();
  struct store *store = store_at(kit_store);
  put_layout(store, DB_LAYOUT_FIRST_ROWS);
  store_close(store);
  zero_root(kit_store);
  expect_refused(maintenance_migrate(kit_store, to_path(), &report, &why), TIDINGS_E_STORE,
                 "tidings store salvage");
  cr_assert_neq(access(to_path(), F_OK), 0);
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  cr_assert_eq(report.notifications, 405);
  expect_sound(to_path());
}

Test(migrate, only_an_older_layout_is_migrated) {
  make_store();
  expect_refused(maintenance_migrate(kit_store, to_path(), &report, &why), TIDINGS_E_STATE,
                 "nothing to migrate");
  struct store *store = store_at(kit_store);
  put_layout(store, STORE_SCHEMA + 1);
  store_close(store);
  expect_done(maintenance_check(kit_store, &report, &why));
  cr_assert_eq(report.finding_count, 1);
  cr_assert(strstr(report.findings[0].text, "use a newer tidings"), "%s", report.findings[0].text);
  expect_refused(maintenance_migrate(kit_store, to_path(), &report, &why), TIDINGS_E_SCHEMA_NEWER,
                 "newer tidings");
  expect_refused(maintenance_salvage(kit_store, to_path(), false, &report, &why),
                 TIDINGS_E_SCHEMA_NEWER, "newer tidings");
  cr_assert_neq(access(to_path(), F_OK), 0);
}
