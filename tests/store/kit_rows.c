/* SPDX-License-Identifier: MIT
 */
#include "kit_rows.h"

#include <criterion/criterion.h>

#include "common/fnv.h"
#include "kit.h"
#include "session/ledger.h"
#include "store/rows/rows.h"

/* Many items at once, in one transaction, as pushes would have left them. */
void fill_items(struct store *store, const char *name, uint64_t first, uint64_t last,
                int64_t time_ms) {
  struct tidings_error error = new_error();
  const struct notification note = {
      .source = span_text("t"), .name = span_text("n"), .message = span_text("m")};
  struct store_txn *txn;
  uint32_t session;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  cr_assert_eq(session_add(txn, span_text(name), &session, &error), 0);
  for (uint64_t n = first; n <= last; n++) {
    struct db_key key = row_key(session, ROW_ITEM, n);
    struct buffer body = BUFFER_EMPTY;
    item_encode(&body, time_ms, &note, NULL);
    cr_assert_eq(row_put(txn, &key, &body, &error), 0, "%s", error.text);
    buffer_free(&body);
  }
  cr_assert_eq(store_commit(txn, &error), 0, "%s", error.text);
}

/* A delivery of first..last, committed or left leased. */
void deliver_items(struct store *store, uint32_t session, uint64_t n, uint64_t first, uint64_t last,
                   bool commit, int64_t now_ms) {
  struct tidings_error error = new_error();
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn;
  struct head head;
  const struct disposition_range disposition = {
      .first = first, .last = last, .outcome = OUTCOME_DELIVERED, .reason = REASON_SHOWN};
  struct delivery delivery = {.n = n,
                              .state = commit ? DELIVERY_COMMITTED : DELIVERY_LEASED,
                              .carrier = CARRIER_TOOL_RESULT,
                              .leased_ms = now_ms,
                              .dispositions = &disposition,
                              .disposition_count = 1,
                              .after = last};
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(head_get(txn, session, &arena, &head, &error), 0);
  cr_assert_eq(ledger_lease(&head, &delivery, &arena), 0);
  if (commit) cr_assert_eq(ledger_commit(&head, &delivery, &arena), 0);
  head.last_delivery = n;
  cr_assert_eq(delivery_put(txn, session, &delivery, &error), 0);
  cr_assert_eq(head_put(txn, session, &head, &error), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
  arena_free(&arena);
}

uint64_t id_row_of(const char *id) { /* in steps of 16 */
  return fnv_span(FNV_START, span_text(id)) & ~(uint64_t)15;
}

size_t rows_in(struct store *store, uint32_t session, enum row_kind kind) {
  struct tidings_error error = new_error();
  struct db_key from = row_key(session, kind, 0);
  struct store_txn *txn;
  struct db_cursor cursor;
  size_t count = 0;
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  cr_assert_eq(db_cursor_open(txn->db, &cursor), 0);
  int rc = db_cursor_seek(&cursor, &from);
  for (; !rc && row_key_is_like(cursor.key, &from); rc = db_cursor_next(&cursor)) count++;
  db_cursor_close(&cursor);
  store_end(txn);
  return count;
}
