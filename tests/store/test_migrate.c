/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_migrate.c: a store of an older layout becomes a new one.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "maintenance_kit.h"

TestSuite(migrate, .init = kit_begin, .fini = kit_end, .timeout = 300);

/* -- migrate ------------------------------------------------------------------------------------
 */

/* As the first builds wrote them: without former owners, turns, and the place of a delivery. */
static void put_old_head(struct store *store, uint32_t session) {
  const struct db_key key = row_key(session, ROW_HEAD, 0);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_u64(&body, 9);  /* generation */
  record_u64(&body, 21); /* watermark */
  record_u64(&body, 20); /* floor */
  record_u64(&body, 2);  /* the newest delivery */
  record_u64(&body, 0);  /* dedup cursor */
  record_u64(&body, 1);  /* epoch */
  record_u64(&body, 0);  /* no owner */
  record_i64(&body, 5000);
  record_u64(&body, 1); /* 21..30 are leased by delivery 2 */
  record_u64(&body, 0);
  record_u64(&body, 9);
  record_u64(&body, 2);
  record_u64(&body, 1);
  record_u64(&body, 2);
  record_u64(&body, OUTCOME_COUNT);
  for (int i = 0; i < OUTCOME_COUNT; i++) record_u64(&body, i == OUTCOME_DELIVERED ? 20 : 0);
  put_record(store, &key, &body);
}

static void put_old_delivery(struct store *store, uint32_t session, uint64_t n, uint64_t first,
                             uint64_t last, uint64_t state) {
  const struct db_key key = row_key(session, ROW_DELIVERY, n);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_u64(&body, 1);
  record_i64(&body, 4000);
  record_i64(&body, 4100);
  record_u64(&body, state);
  record_u64(&body, CARRIER_TOOL_RESULT);
  record_u64(&body, SETTLED_BY_HOST);
  record_u64(&body, 0);
  record_bytes(&body, span_text("call"));
  record_bytes(&body, span_text("tool"));
  record_u64(&body, 1);
  record_u64(&body, first);
  record_u64(&body, last - first);
  record_u64(&body, OUTCOME_DELIVERED);
  record_u64(&body, REASON_SHOWN);
  record_u64(&body, 0);
  put_record(store, &key, &body);
}

Test(migrate, a_store_of_layout_1_is_migrated) {
  const struct store_options options = {.directory = kit_store};
  struct store *store = store_at(kit_store);
  fill_items(store, "s", 1, 40, 1000);
  put_old_head(store, 1);
  put_old_delivery(store, 1, 1, 1, 20, DELIVERY_COMMITTED);
  put_old_delivery(store, 1, 2, 21, 30, DELIVERY_LEASED);
  put_layout(store, 1);
  store_close(store);
  expect_refused(store_open(&options, &store, &why), TIDINGS_E_STORE, "tidings store migrate");
  expect_done(maintenance_check(kit_store, &report, &why));
  cr_assert_eq(report.finding_count, 1);
  cr_assert(strstr(report.findings[0].text, "layout 1"), "%s", report.findings[0].text);

  expect_done(maintenance_migrate(kit_store, to_path(), &report, &why));
  cr_assert_eq(report.layout, 1);
  cr_assert_eq(report.left_out, 0);
  cr_assert_eq(report.notifications, 40);
  expect_sound(to_path());
  expect_pending(to_path(), "s", 10);

  struct tidings_plugin *plugin = plugin_at(to_path(), (struct plugin_words){0});
  char *answer = ask(plugin, "{\"name\":\"history\",\"session\":\"s\"}");
  cr_assert(strstr(answer, "\"call_id\":\"call\""), "%s", answer);
  free(answer);
  struct got got = tool_result(plugin, "s"); /* what was leased comes back */
  cr_assert_eq(got.code, 0, "%s", got.error.text);
  cr_assert_eq(got.count, 20);
  plugin_end(plugin);
}

Test(migrate, only_an_older_layout_is_migrated) {
  make_store();
  expect_refused(maintenance_migrate(kit_store, to_path(), &report, &why), TIDINGS_E_STATE,
                 "nothing to migrate");
  struct store *store = store_at(kit_store);
  put_layout(store, STORE_SCHEMA + 1);
  store_close(store);
  expect_refused(maintenance_migrate(kit_store, to_path(), &report, &why), TIDINGS_E_SCHEMA_NEWER,
                 "newer tidings");
  expect_refused(maintenance_salvage(kit_store, to_path(), false, &report, &why),
                 TIDINGS_E_SCHEMA_NEWER, "newer tidings");
  cr_assert_neq(access(to_path(), F_OK), 0);
}
