/* SPDX-License-Identifier: MIT
 *
 * store/rows/row.c: functions for all kinds of rows.
 */
#include "store/rows/rows.h"

int row_put(struct store_txn *txn, const struct db_key *key, struct buffer *body,
            struct tidings_error *error) {
  record_end(body, key);
  bool failed = body->failed;
  int rc = failed ? 0 : db_put(txn->db, key, buffer_view(body));
  buffer_free(body);
  if (failed) return fail(error, TIDINGS_E_NOMEM, "no memory for a record of the store");
  return rc ? db_failed(error, rc, "write a record") : 0;
}

int row_damaged(struct tidings_error *error, const char *what, uint32_t session, uint64_t n) {
  return fail(error, TIDINGS_E_STORE,
              "the store's record of %s %llu of session number %u is damaged; make the store "
              "anew with 'tidings store salvage', restore it from a backup, or close the session",
              what, (unsigned long long)n, session);
}

int row_last(struct store_txn *txn, uint32_t session, enum row_kind kind, uint64_t *ret_n,
             struct tidings_error *error) {
  struct db_key first = row_key(session, kind, 0), after = row_key(session, kind + 1, 0);
  struct db_cursor cursor;
  int rc = db_cursor_open(txn->db, &cursor);
  if (rc) return db_failed(error, rc, "look for a session's newest row");
  rc = db_cursor_before(&cursor, &after);
  if (!rc) *ret_n = row_key_is_like(cursor.key, &first) ? row_key_n(cursor.key) : 0;
  db_cursor_close(&cursor);
  return rc ? db_failed(error, rc, "look for a session's newest row") : 0;
}
