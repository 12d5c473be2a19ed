/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_sweep.c: tests which rows are forgotten in sessions that nobody uses, in which
 * steps, and which rows never are.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"
#include "kit_rows.h"
#include "store/forget/sweep.h"
#include "store/rows/record.h"

TestSuite(sweep, .init = kit_begin, .fini = kit_end);

static const int64_t DAY = 86400000;
static const size_t STEP_ROWS = 64;

/* Makes a commit that is not a push, in session `busy`. */
static void sweep_once(struct store *store, uint32_t busy, int64_t now_ms) {
  struct tidings_error error = new_error();
  struct store_txn *txn;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  cr_assert_eq(store_sweep(txn, busy, now_ms, &error), 0, "%s", error.text);
  cr_assert_eq(store_commit(txn, &error), 0, "%s", error.text);
}

static struct sweep state_of(struct store *store) {
  struct tidings_error error = new_error();
  struct store_txn *txn;
  struct sweep state;
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(sweep_get(txn, &state), 0);
  store_end(txn);
  return state;
}

/* Until it rests; returns the number of steps. */
static int sweep_round(struct store *store, int64_t now_ms) {
  int steps = 0;
  do {
    sweep_once(store, 0, now_ms);
    steps++;
  } while (state_of(store).session && steps < 100000);
  return steps;
}

static void put_dedup(struct store *store, const char *name, int first, int last, int64_t now_ms,
                      int64_t keep_ms) {
  struct tidings_error error = new_error();
  struct store_txn *txn;
  uint32_t session;
  char id[16];
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(session_add(txn, span_text(name), &session, &error), 0);
  for (int i = first; i <= last; i++) {
    (void)snprintf(id, sizeof id, "%d", i);
    cr_assert_eq(dedup_put(txn, session, span_text("p"), span_text(id), now_ms, keep_ms, &error), 0,
                 "%s", error.text);
  }
  cr_assert_eq(store_commit(txn, &error), 0, "%s", error.text);
}

/* -- abandoned sessions ------------------------------------------------------------------------ */

Test(sweep, what_has_ended_goes_by_age_and_by_number) {
  struct store *store = store_at(kit_store);
  fill_items(store, "old", 1, 100, 0);
  deliver_items(store, 1, 1, 1, 100, true, 0);
  fill_items(store, "many", 1, 10150, 20 * DAY);
  deliver_items(store, 2, 1, 1, 150, true, 20 * DAY);
  deliver_items(store, 2, 2, 151, 10150, true, 20 * DAY);
  fill_items(store, "young", 1, 10, 20 * DAY);
  deliver_items(store, 3, 1, 1, 10, true, 20 * DAY);
  sweep_round(store, 30 * DAY + 1);
  cr_expect_eq(items_in(store, "old"), 1, "the newest stays, so that its number does");
  cr_expect_eq(deliveries_in(store, "old"), 1);
  cr_expect_eq(items_in(store, "many"), 10000);
  sweep_round(store, 30 * DAY + 7200000);
  cr_expect_eq(deliveries_in(store, "many"), 1,
               "what goes with its items goes in a round of its own");
  cr_expect_eq(items_in(store, "young"), 10);
  cr_expect_eq(deliveries_in(store, "young"), 1);
  cr_expect_eq(last_of(store, "old"), 100);
  store_close(store);
}

Test(sweep, what_is_pending_or_leased_stays) {
  struct store *store = store_at(kit_store);
  fill_items(store, "s", 1, 12000, 0);
  deliver_items(store, 1, 1, 100, 199, false, 0);
  deliver_items(store, 1, 2, 300, 399, true, 0);
  for (int round = 0; round < 3; round++) sweep_round(store, (400 + round) * DAY);
  cr_expect_eq(items_in(store, "s"), 11900);
  cr_expect_eq(pending_in(store, "s"), 11800);
  cr_expect_eq(deliveries_in(store, "s"), 2);
  store_close(store);
}

/* -- steps ------------------------------------------------------------------------------------- */

Test(sweep, a_million_ids_go_in_small_steps) {
  enum { IDS = 1000000, BATCH = 50000, STEPS = 100 };
  struct store *store = store_at(kit_store);
  for (int i = 0; i < IDS; i += BATCH) put_dedup(store, "s", i, i + BATCH - 1, 0, DAY);
  put_dedup(store, "s", IDS, IDS + 9, 2 * DAY, DAY);
  sweep_once(store, 1, 2 * DAY);
  cr_assert_eq(rows_in(store, 1, ROW_DEDUP), IDS + 10,
               "its own settle looks after the session at hand");
  size_t before = rows_in(store, 1, ROW_DEDUP);
  for (int i = 0; i < STEPS; i++) sweep_once(store, 0, 2 * DAY + 3600001);
  size_t after = rows_in(store, 1, ROW_DEDUP);
  cr_assert_eq(before - after, STEPS * STEP_ROWS, "%zu", before - after);
  struct sweep state = state_of(store);
  cr_assert_eq(state.session, 1);
  store_close(store);
  store = store_at(kit_store); /* it goes on where it was, in another process too */
  for (int i = 0; i < STEPS; i++) sweep_once(store, 0, 2 * DAY + 3600001);
  cr_assert_leq(after - rows_in(store, 1, ROW_DEDUP), (STEPS + 1) * STEP_ROWS);
  cr_assert_geq(after - rows_in(store, 1, ROW_DEDUP), STEPS * STEP_ROWS);
  cr_assert_gt(state_of(store).n, state.n);
  store_close(store);
}

Test(sweep, an_id_is_kept_as_long_as_it_was_promised) {
  struct store *store = store_at(kit_store);
  put_dedup(store, "s", 1, 300, 0, 30 * DAY);
  put_dedup(store, "s", 301, 500, 0, 1000);
  put_dedup(store, "s", 501, 600, 2 * DAY, 0);
  cr_assert_geq(sweep_round(store, 2 * DAY), 3);
  cr_expect_eq(rows_in(store, 1, ROW_DEDUP), 400);
  sweep_round(store, 30 * DAY);
  cr_expect_eq(rows_in(store, 1, ROW_DEDUP), 300);
  sweep_round(store, 30 * DAY + 3600001);
  cr_expect_eq(rows_in(store, 1, ROW_DEDUP), 0);
  store_close(store);
}

Test(sweep, it_rests_between_rounds_and_a_clock_that_goes_back_ends_the_rest) {
  struct store *store = store_at(kit_store);
  say_well(store, "a", "x");
  sweep_round(store, 5 * DAY);
  put_dedup(store, "a", 1, 10, 0, DAY);
  sweep_once(store, 0, 5 * DAY + 3600000);
  cr_expect_eq(rows_in(store, 1, ROW_DEDUP), 10);
  sweep_once(store, 0, 5 * DAY - 1);
  cr_expect_eq(rows_in(store, 1, ROW_DEDUP), 0);
  put_dedup(store, "a", 1, 10, 0, DAY);
  sweep_once(store, 0, 5 * DAY + 3600000);
  cr_expect_eq(rows_in(store, 1, ROW_DEDUP), 0);
  store_close(store);
}

/* The sweep reads a snapshot, which does not show what this write has put. */
Test(sweep, what_the_write_itself_puts_is_not_taken_away) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn;
  struct head head;
  bool seen = false;
  put_dedup(store, "a", 1, 1, 0, DAY);
  put_dedup(store, "b", 1, 1, 0, DAY);
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  for (uint32_t session = 1; session <= 2; session++)
    cr_assert_eq(dedup_put(txn, session, span_text("p"), span_text("1"), 9 * DAY, DAY, &error), 0);
  cr_assert_eq(head_get(txn, 2, &arena, &head, &error), 0);
  cr_assert_eq(head_put(txn, 2, &head, &error), 0);
  cr_assert_eq(store_sweep(txn, 1, 9 * DAY, &error), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  for (uint32_t session = 1; session <= 2; session++) {
    cr_assert_eq(
        dedup_seen(txn, session, span_text("p"), span_text("1"), 9 * DAY, 9 * DAY, &seen, &error),
        0);
    cr_expect(seen, "session %u", session);
  }
  store_end(txn);
  arena_free(&arena);
  store_close(store);
}

/* Opening a store that nobody else has open is an occasion too. */
Test(sweep, whoever_opens_the_store_alone_sweeps) {
  struct store *store = store_at(kit_store);
  put_dedup(store, "s", 1, 100, -2 * DAY, DAY);
  store_close(store);
  store = store_at(kit_store);
  cr_expect_eq(rows_in(store, 1, ROW_DEDUP), 100 - STEP_ROWS);
  store_close(store);
  store_close(store_at(kit_store));
  store = store_at(kit_store);
  cr_expect_eq(rows_in(store, 1, ROW_DEDUP), 0);
  cr_expect_eq(state_of(store).session, 0);
  store_close(store);
}

/* -- rows that went bad ------------------------------------------------------------------------ */

static void spoil(struct store *store, uint32_t session, enum row_kind kind, uint64_t n) {
  struct tidings_error error = new_error();
  struct db_key key = row_key(session, kind, n);
  struct store_txn *txn;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(db_put(txn->db, &key, span_text("spoil")), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
}

Test(sweep, damage_stops_it_nowhere) {
  struct store *store = store_at(kit_store);
  put_dedup(store, "a", 1, 10, 0, DAY);
  fill_items(store, "b", 1, 10, 0);
  deliver_items(store, 2, 1, 1, 10, true, 0);
  put_dedup(store, "b", 1, 10, 0, DAY);
  put_dedup(store, "c", 1, 10, 0, DAY);
  fill_items(store, "c", 1, 10, 0);
  deliver_items(store, 3, 1, 1, 10, true, 0);
  spoil(store, 2, ROW_HEAD, 0);
  spoil(store, 3, ROW_DELIVERY, 1);
  spoil(store, 3, ROW_ITEM, 3);
  spoil(store, 0, ROW_META, 2);
  sweep_round(store, 40 * DAY);
  cr_expect_eq(rows_in(store, 1, ROW_DEDUP), 0);
  cr_expect_eq(rows_in(store, 2, ROW_DEDUP), 10,
               "what has ended in a session without a head is not known");
  cr_expect_eq(rows_in(store, 2, ROW_ITEM), 10);
  cr_expect_eq(rows_in(store, 3, ROW_DEDUP), 0);
  cr_expect_eq(rows_in(store, 3, ROW_DELIVERY), 0, "a damaged one tells nothing");
  store_close(store);
}

/* -- through the plugin ------------------------------------------------------------------------ */

Test(sweep, deliveries_of_one_session_forget_what_is_old_in_another) {
  struct tidings_plugin *plugin =
      plugin_at(kit_store, (struct plugin_words){.settle_on_return = 1});
  struct store *store = store_of(plugin);
  struct tidings_error error = new_error();
  kit_now_ms = 0;
  for (int i = 0; i < 20; i++) push(plugin, "left", "x");
  cr_assert_eq(tool_result(plugin, "left").code, 0);
  for (int i = 0; i < 5; i++) push(plugin, "left", "pending");
  cr_assert_eq(event(plugin, &error,
                     "{\"type\":\"handle.polled\",\"session\":\"left\",\"id\":\"1\",\"data\":{"
                     "\"handle\":\"h\"}}"),
               0);
  kit_now_ms = 31 * DAY;
  for (int i = 0; i < 2; i++) {
    push(plugin, "used", "x");
    expect_got(tool_result(plugin, "used"), "x");
    kit_now_ms += 3600001;
  }
  cr_expect_eq(items_in(store, "left"), 5);
  cr_expect_eq(pending_in(store, "left"), 5);
  cr_expect_eq(deliveries_in(store, "left"), 0);
  cr_expect_eq(rows_in(store, number_of(store, "left"), ROW_DEDUP), 0);
  cr_expect_eq(items_in(store, "used"), 2);
  plugin_end(plugin);
}
