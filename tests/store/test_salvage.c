/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_salvage.c: tests what salvage saves from a damaged store, and which bytes it
 * does not take for rows. Random damage is tested in tests/faults/open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maintenance_kit.h"

TestSuite(salvage, .init = kit_begin, .fini = kit_end, .timeout = 300);

/* -- salvage ----------------------------------------------------------------------------------- */

Test(salvage, salvage_of_a_sound_store_keeps_everything) {
  make_store();
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  cr_assert_eq(report.notifications, 405);
  cr_assert_eq(report.made_heads, 0);
  cr_assert_eq(report.made_names, 0);
  expect_sound(to_path());
  expect_pending(to_path(), "s", 370);
  expect_pending(to_path(), "t", 5);
}

/* Nothing leads to the leaves, and nothing says that they are free. */
Test(salvage, a_lost_root_loses_nothing) {
  make_store();
  zero_root(kit_store);
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  cr_assert_eq(report.notifications, 405);
  expect_sound(to_path());
  expect_pending(to_path(), "s", 370);
  expect_pending(to_path(), "t", 5);
}

/* Opening the store repairs the head; salvage works without that. */
Test(salvage, a_torn_head_loses_nothing) {
  make_store();
  struct store *store = store_at(kit_store);
  say_well(store, "t", "the newest");
  store_close(store);
  tear_head(kit_store);
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  expect_sound(to_path());
  expect_pending(to_path(), "s", 370);
  expect_pending(to_path(), "t", 6);
  store_close(store_at(kit_store));
  expect_sound(kit_store);
  expect_pending(kit_store, "t", 6);
}

Test(salvage, without_a_head_deliveries_say_what_has_ended) {
  struct arena arena = ARENA_EMPTY;
  make_store();
  struct store *store = store_at(kit_store);
  const struct db_key key = row_key(1, ROW_HEAD, 0);
  put_raw(store, &key, span_text("spoiled"));
  store_close(store);
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  cr_assert_eq(report.made_heads, 1);
  cr_assert_eq(report.pending_again, 380);
  expect_pending(to_path(), "s", 380); /* what was leased too */
  store = store_at(to_path());
  struct head head = head_of(store, "s", &arena);
  cr_assert_eq(head.last_delivery, 2);
  cr_assert_eq(head.outcomes[OUTCOME_DELIVERED], 20);
  say_well(store, "s", "one more");
  cr_assert_eq(last_of(store, "s"), 401);
  arena_free(&arena);
  store_close(store);
}

/* The head is lost, so the lease is rolled back, which would have ended the item. */
Test(salvage, what_was_withdrawn_while_leased_stays_withdrawn) {
  const struct disposition_range shown = {.first = 21, .last = 30, .outcome = OUTCOME_DELIVERED},
                                 withdrawn = {
                                     .first = 23, .last = 24, .outcome = OUTCOME_WITHDRAWN};
  const struct delivery delivery = {.n = 2,
                                    .state = DELIVERY_LEASED,
                                    .carrier = CARRIER_TOOL_RESULT,
                                    .after = 30,
                                    .dispositions = &shown,
                                    .disposition_count = 1,
                                    .recalled = &withdrawn,
                                    .recalled_count = 1};
  const struct db_key head = row_key(1, ROW_HEAD, 0);
  struct store_txn *txn;
  make_store();
  struct store *store = store_at(kit_store);
  expect_done(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &why));
  expect_done(delivery_put(txn, 1, &delivery, &why));
  expect_done(store_commit(txn, &why));
  put_raw(store, &head, span_text("spoiled"));
  store_close(store);
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  cr_assert_eq(report.pending_again, 378);
  expect_pending(to_path(), "s", 378);
}

static void lose_items(struct store *store, uint32_t session, uint64_t first, uint64_t last) {
  struct store_txn *txn;
  expect_done(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &why));
  for (uint64_t n = first; n <= last; n++) {
    const struct db_key key = row_key(session, ROW_ITEM, n);
    expect_done(db_delete(txn->db, &key));
  }
  expect_done(store_commit(txn, &why));
}

static void expect_counts(const char *session, uint64_t live, uint64_t dropped,
                          uint64_t watermark) {
  struct arena arena = ARENA_EMPTY;
  struct store *store = store_at(to_path());
  struct head head = head_of(store, session, &arena);
  cr_assert_eq(head_count_live(&head, last_of(store, session)), live, "%s: %llu", session,
               (unsigned long long)head_count_live(&head, last_of(store, session)));
  cr_assert_eq(head.outcomes[OUTCOME_DROPPED], dropped);
  cr_assert_eq(head.watermark, watermark);
  arena_free(&arena);
  store_close(store);
  expect_pending(to_path(), session, live - (strcmp(session, "s") == 0 ? 10 : 0));
}

/* Otherwise they would count as pending for ever. 21..30 are leased, so their settlement decides
 * about lost ones. */
Test(salvage, lost_notifications_end_as_dropped) {
  make_store();
  struct store *store = store_at(kit_store);
  lose_items(store, 1, 5, 8);
  lose_items(store, 1, 29, 33);
  lose_items(store, 1, 40, 41);
  lose_items(store, 2, 1, 2);
  lose_items(store, 2, 4, 4);
  store_close(store);
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  expect_sound(to_path());
  expect_counts("s", 380 - 3 - 2, 3 + 2, 21);
  expect_counts("t", 2, 1, 3); /* what was before the first may have ended */
}

/* The session's newest items are lost too, as a delivery shows. */
Test(salvage, lost_notifications_end_as_dropped_without_a_head) {
  const struct db_key key = row_key(1, ROW_HEAD, 0);
  make_store();
  struct store *store = store_at(kit_store);
  deliver_items(store, 1, 3, 400, 400, true, 3000);
  lose_items(store, 1, 31, 35);
  lose_items(store, 1, 390, 400);
  put_raw(store, &key, span_text("spoiled"));
  store_close(store);
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  expect_sound(to_path());
  store = store_at(to_path());
  cr_assert_eq(last_of(store, "s"), 400);
  cr_assert_eq(pending_in(store, "s"), 400 - 20 - 5 - 11);
  struct arena arena = ARENA_EMPTY;
  struct head head = head_of(store, "s", &arena);
  cr_assert_eq(head_count_live(&head, 400), 400 - 20 - 5 - 11);
  cr_assert_eq(head.outcomes[OUTCOME_DROPPED], 5 + 10);
  arena_free(&arena);
  store_close(store);
}

/* Damages the rows of names, also in old versions of their page. */
static void spoil_names(const char *path) {
  static const uint8_t begin[NODE_KEY_BYTES_AT - NODE_FLAGS_AT + 2 + 5] = {
      0, 0, DB_KEY_BYTES, 0, 0, 0, 0, 0, ROW_NAME};
  struct bytes bytes = read_bytes_of(path);
  uint8_t *at = bytes.at, *end = bytes.at + bytes.len;
  size_t found = 0;
  while ((at = memmem(at, (size_t)(end - at), begin, sizeof begin))) {
    at += sizeof begin;
    at[0] ^= 1; /* the hash, which the checksum covers too */
    found++;
  }
  cr_assert_geq(found, 2);
  write_bytes_of(&bytes);
}

Test(salvage, a_session_without_a_name_gets_one) {
  make_store();
  spoil_names(kit_store);
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  cr_assert_eq(report.made_names, 2);
  cr_assert_eq(report.sessions, 2);
  expect_pending(to_path(), "salvaged-1", 370);
  struct store *store = store_at(to_path());
  say_well(store, "new", "m");
  cr_assert_eq(number_of(store, "new"), 3);
  store_close(store);
}

Test(salvage, deleted_rows_come_back_only_on_demand) {
  make_store();
  struct store *store = store_at(kit_store);
  struct store_txn *txn;
  expect_done(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &why));
  for (uint64_t n = 1; n <= 5; n++) {
    const struct db_key key = row_key(2, ROW_ITEM, n);
    expect_done(db_delete(txn->db, &key));
  }
  expect_done(store_commit(txn, &why));
  store_close(store);
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  expect_pending(to_path(), "t", 0);
  cr_assert_gt(report.stale, 0);
  expect_done(maintenance_salvage(kit_store, kit_path("all"), true, &report, &why));
  expect_pending(kit_path("all"), "t", 5);
  expect_sound(kit_path("all"));
}

/* So many pages became free in one commit that their list is a large value of its own. */
Test(salvage, a_long_list_of_free_pages_is_read_too) {
  enum { MANY = 30000 };
  make_store();
  struct store *store = store_at(kit_store);
  struct store_txn *txn;
  fill_items(store, "u", 1, MANY, 1000);
  expect_done(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &why));
  for (uint64_t n = 1; n <= MANY; n++) {
    const struct db_key key = row_key(3, ROW_ITEM, n);
    expect_done(db_delete(txn->db, &key));
  }
  expect_done(store_commit(txn, &why));
  store_close(store);
  zero_root(kit_store); /* what no tree and no list names is not deleted, but lost */
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  expect_pending(to_path(), "s", 370);
  expect_pending(to_path(), "u", 0);
  cr_assert_geq(report.stale, MANY);
}

/* -- a value that looks like a leaf ------------------------------------------------------------ */

enum { HOSTILE_BYTES = 3 * PAGE };

static void put_u16_at(uint8_t *at, size_t offset, uint16_t value) {
  memcpy(at + offset, &value, sizeof value);
}

/* A leaf with one sound row, as page `number`. */
static void forge_leaf(uint8_t *page, uint64_t number, const struct db_key *key,
                       struct tidings_span record) {
  size_t node = PAGE - 256;
  uint32_t bytes = (uint32_t)record.len;
  memset(page, 0, PAGE);
  memcpy(page + PAGE_NUMBER_AT, &number, sizeof number);
  put_u16_at(page, PAGE_KIND_AT, PAGE_LEAF);
  put_u16_at(page, PAGE_LOWER_AT, PAGE_HEAD_BYTES + 2);
  put_u16_at(page, PAGE_UPPER_AT, (uint16_t)node);
  put_u16_at(page, PAGE_HEAD_BYTES, (uint16_t)node);
  memcpy(page + node + NODE_LOW_AT, &bytes, sizeof bytes);
  put_u16_at(page, node + NODE_KEY_BYTES_AT, DB_KEY_BYTES);
  memcpy(page + node + NODE_HEAD_BYTES, key->bytes, DB_KEY_BYTES);
  memcpy(page + node + NODE_HEAD_BYTES + DB_KEY_BYTES, record.ptr, record.len);
}

Test(salvage, a_large_value_that_looks_like_a_leaf_is_not_read_as_one) {
  static char value[HOSTILE_BYTES];
  static const char mark[] = "the begin of a hostile value";
  const struct db_key item = row_key(1, ROW_ITEM, 401), forged = row_key(2, ROW_ITEM, 6);
  struct buffer record = BUFFER_EMPTY;
  const struct notification note = {
      .source = span_text("t"), .name = span_text("n"), .message = span_text("forged")};
  make_store();
  value[0] = RECORD_FORMAT;
  memcpy(value + 1, mark, sizeof mark);
  struct store *store = store_at(kit_store);
  put_raw(store, &item, span_of(value, sizeof value));
  store_close(store);
  item_encode(&record, 1000, &note, NULL);
  record_end(&record, &forged);
  struct bytes bytes = read_bytes_of(kit_store);
  uint8_t *begin = memmem(bytes.at, bytes.len, mark, sizeof mark);
  cr_assert(begin);
  uint8_t *run = begin - 1 - PAGE_HEAD_BYTES;
  cr_assert_eq((size_t)(run - bytes.at) % PAGE, 0);
  forge_leaf(run + PAGE, (uint64_t)(run - bytes.at) / PAGE + 1, &forged, buffer_view(&record));
  struct tidings_span body =
      span_of((char *)run + PAGE_HEAD_BYTES, sizeof value - sizeof(uint32_t));
  uint32_t crc = record_crc(&item, body);
  memcpy(run + PAGE_HEAD_BYTES + body.len, &crc, sizeof crc);
  memset(root_page(&bytes), 0, PAGE); /* now no tree says what the page is */
  write_bytes_of(&bytes);
  buffer_free(&record);
  expect_done(maintenance_salvage(kit_store, to_path(), true, &report, &why));
  expect_pending(to_path(), "s", 371);
  expect_pending(to_path(), "t", 5); /* and not 6 */
}

/* -- messages ---------------------------------------------------------------------------------- */

static void submit(struct tidings_plugin *plugin, const char *id) {
  why = new_error();
  int code = event(plugin, &why,
                   "{\"type\":\"message.submitted\",\"session\":\"q\",\"data\":{\"id\":\"%s\","
                   "\"content\":\"c\"}}",
                   id);
  cr_assert_eq(code, 0, "%s", why.text);
}

Test(salvage, messages_of_a_lost_head_are_queued_again) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  submit(plugin, "m1"); /* on offer */
  submit(plugin, "m2");
  const struct db_key head = row_key(1, ROW_HEAD, 0);
  put_raw(store_of(plugin), &head, span_text("spoiled"));
  plugin_end(plugin);
  expect_done(maintenance_salvage(kit_store, to_path(), false, &report, &why));
  cr_assert_eq(report.messages, 2);
  plugin = plugin_at(to_path(), (struct plugin_words){0});
  char *answer = ask(plugin, "{\"name\":\"status\",\"session\":\"q\"}");
  cr_assert(strstr(answer, "\"state\":\"idle\""), "%s", answer);
  const char *first = strstr(answer, "\"m1\""), *second = strstr(answer, "\"m2\"");
  cr_assert(first && second && first < second, "%s", answer);
  free(answer);
  submit(plugin, "m3"); /* under a number of its own */
  plugin_end(plugin);
  struct store *store = store_at(to_path());
  cr_assert_eq(rows_in(store, 1, ROW_MESSAGE), 3);
  store_close(store);
}
