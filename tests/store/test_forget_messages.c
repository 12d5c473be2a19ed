/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_forget_messages.c: messages that are over are forgotten with their contents and
 * ids, other messages never are, and transitions are forgotten by age.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "kit.h"
#include "store/rows/rows.h"

TestSuite(forget_messages, .init = kit_begin, .fini = kit_end);

static const int64_t DAY = 86400000;

static struct store_txn *write_to(struct store *store) {
  struct tidings_error error = new_error();
  struct store_txn *txn;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  return txn;
}

static struct tidings_span id_of(uint64_t n, char buffer[32]) {
  return span_of(buffer, (size_t)snprintf(buffer, 32, "m%llu", (unsigned long long)n));
}

/* Adds messages 1..count to session 1, a day apart, of which every fourth is still queued, and as
 * many transitions. */
static void fill(struct store *store, uint64_t count) {
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn = write_to(store);
  struct head head;
  uint32_t session;
  char buffer[32];
  cr_assert_eq(session_add(txn, span_text("s"), &session, &error), 0);
  cr_assert_eq(head_get(txn, session, &arena, &head, &error), 0);
  for (uint64_t n = 1; n <= count; n++) {
    struct message message = {.n = n,
                              .place = n,
                              .stamp_ms = (int64_t)n * DAY,
                              .id = id_of(n, buffer),
                              .state = MESSAGE_FIRED};
    struct transition transition = {.n = n, .time_ms = (int64_t)n * DAY};
    if (n % 4 == 0) message.state = MESSAGE_QUEUED;
    cr_assert_eq(message_add(txn, session, &message, span_text("text"), span_of(NULL, 0), &error),
                 0, "%s", error.text);
    cr_assert_eq(transition_put(txn, session, &transition, &error), 0, "%s", error.text);
  }
  head.run.last_message = head.last_transition = count;
  cr_assert_eq(head_put(txn, session, &head, &error), 0);
  cr_assert_eq(store_commit(txn, &error), 0, "%s", error.text);
  arena_free(&arena);
}

/* Makes so many steps of retention, as so many settles would. */
static void sweep(struct store *store, int64_t now_ms, int steps) {
  for (int i = 0; i < steps; i++) {
    struct tidings_error error = new_error();
    struct arena arena = ARENA_EMPTY;
    struct store_txn *txn = write_to(store);
    struct head head;
    cr_assert_eq(head_get(txn, 1, &arena, &head, &error), 0);
    cr_assert_eq(retention_step(txn, 1, &head, now_ms, 100, NULL, 0, &error), 0, "%s", error.text);
    cr_assert_eq(head_put(txn, 1, &head, &error), 0);
    cr_assert_eq(store_commit(txn, &error), 0);
    arena_free(&arena);
  }
}

static size_t rows_of(struct store_txn *txn, enum row_kind kind) {
  struct db_key from = row_key(1, kind, 0);
  struct db_cursor cursor;
  size_t count = 0;
  cr_assert_eq(db_cursor_open(txn->db, &cursor), 0);
  int rc = db_cursor_seek(&cursor, &from);
  for (; !rc && row_key_is_like(cursor.key, &from); rc = db_cursor_next(&cursor)) count++;
  db_cursor_close(&cursor);
  return count;
}

static void expect_rows(struct store *store, size_t messages, size_t transitions) {
  struct tidings_error error = new_error();
  struct store_txn *txn;
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_expect_eq(rows_of(txn, ROW_MESSAGE), messages, "%zu messages", rows_of(txn, ROW_MESSAGE));
  cr_expect_eq(rows_of(txn, ROW_CONTENT), messages, "%zu contents", rows_of(txn, ROW_CONTENT));
  cr_expect_eq(rows_of(txn, ROW_MESSAGE_ID), messages, "%zu ids", rows_of(txn, ROW_MESSAGE_ID));
  cr_expect_eq(rows_of(txn, ROW_TRANSITION), transitions, "%zu transitions",
               rows_of(txn, ROW_TRANSITION));
  store_end(txn);
}

Test(forget_messages, what_is_over_goes_after_thirty_days_and_what_waits_stays) {
  struct store *store = store_at(kit_store);
  fill(store, 20);
  sweep(store, 30 * DAY, 4);
  expect_rows(store, 20, 20);
  sweep(store, 41 * DAY, 4); /* 1..10 are older than thirty days: 4 and 8 wait */
  expect_rows(store, 12, 10);
  sweep(store, 400 * DAY, 8);
  expect_rows(store, 5, 0);
  store_close(store);
}

Test(forget_messages, what_waited_for_long_goes_thirty_days_after_its_end) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  char buffer[32];
  fill(store, 1);
  struct store_txn *txn = write_to(store);
  struct message message = {.n = 1,
                            .place = 1,
                            .stamp_ms = DAY,
                            .due_ms = 40 * DAY,
                            .id = id_of(1, buffer),
                            .state = MESSAGE_FIRED};
  cr_assert_eq(message_put(txn, 1, &message, &error), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
  sweep(store, 70 * DAY, 2);
  expect_rows(store, 1, 0);
  sweep(store, 71 * DAY, 2);
  expect_rows(store, 0, 0);
  store_close(store);
}

Test(forget_messages, an_id_that_was_forgotten_may_be_used_again) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  uint64_t n;
  char buffer[32];
  fill(store, 3);
  sweep(store, 100 * DAY, 4);
  struct store_txn *txn = write_to(store);
  cr_assert_eq(message_find(txn, 1, span_text("m1"), &n, &error), 0);
  cr_expect_eq(n, 0);
  struct message message = {.n = 4, .place = 4, .id = id_of(1, buffer), .state = MESSAGE_QUEUED};
  cr_assert_eq(message_add(txn, 1, &message, span_text("again"), span_of(NULL, 0), &error), 0);
  cr_assert_eq(message_find(txn, 1, span_text("m1"), &n, &error), 0);
  cr_expect_eq(n, 4);
  cr_assert_eq(store_commit(txn, &error), 0);
  store_close(store);
}
