/* SPDX-License-Identifier: MIT
 *
 * store/rows/list.c: reads the list of sessions in pages. An engine on another machine returns
 * sessions by their numbers, together with their rows. An engine on this machine finds them by the
 * hashes of their names.
 */
#include "store/list.h"

#include "store/rows/rows.h"

int session_page_here(struct store_txn *txn, uint64_t after, size_t most, session_visitor each,
                      void *context, uint64_t *ret_next, struct tidings_error *error) {
  struct db_key from = row_key(0, ROW_NAME, after);
  struct db_cursor cursor;
  uint64_t next = 0;
  size_t count = 0;
  int result = 0, rc = db_cursor_open(txn->db, &cursor);
  if (rc) return db_failed(error, rc, "read the sessions' names");
  rc = db_cursor_seek(&cursor, &from);
  while (!rc && !result && count < most && row_key_is_like(cursor.key, &from)) {
    struct tidings_span name;
    uint32_t number;
    struct db_key key = row_key(0, ROW_NAME, row_key_n(cursor.key));
    next = row_key_n(cursor.key) + 1;
    bool good = session_decode(&key, cursor.value, &name, &number);
    count += good;
    if (good) result = each(context, name, number);
    rc = db_cursor_next(&cursor);
  }
  if (!rc && !result) *ret_next = row_key_is_like(cursor.key, &from) ? next : 0;
  db_cursor_close(&cursor);
  if (result) return result;
  return rc ? db_failed(error, rc, "read the sessions' names") : 0;
}

/* `after` and *ret_next are the n of a name's row, or a session's number if the engine lists
 * sessions by their numbers. */
int session_page(struct store_txn *txn, uint64_t after, size_t most, session_visitor each,
                 void *context, uint64_t *ret_next, struct tidings_error *error) {
  uint32_t next = 0;
  if (!db_remote) return session_page_here(txn, after, most, each, context, ret_next, error);
  uint32_t number = after > UINT32_MAX ? UINT32_MAX : (uint32_t)after;
  int code = db_remote->bring_sessions(txn->db, number, most, each, context, &next, error);
  if (!code) *ret_next = next;
  return code;
}

struct db_waiting session_waiting(struct store_txn *txn, uint32_t session) {
  return db_remote ? db_remote->waiting_of(txn->db, session) : (struct db_waiting){{0}};
}

int store_figures(struct store_txn *txn,
                  void (*each)(void *context, const struct db_figure *figure), void *context,
                  struct tidings_error *error) {
  int rc = db_remote ? db_remote->figures(txn->db, each, context) : 0;
  return rc ? db_failed(error, rc, "count what is in its tables") : 0;
}

static bool is_near(struct store_txn *txn, uint32_t session, enum row_kind kind, uint64_t n) {
  struct db_key key = row_key(session, kind, n);
  return !db_remote || !db_remote->is_history(txn->db, &key);
}

bool item_is_near(struct store_txn *txn, uint32_t session, uint64_t n) {
  return is_near(txn, session, ROW_ITEM, n);
}

bool delivery_is_near(struct store_txn *txn, uint32_t session, uint64_t n) {
  return is_near(txn, session, ROW_DELIVERY, n);
}

bool item_read_body(struct tidings_span body, struct item *ret_item) {
  const uint8_t *bytes = (const uint8_t *)body.ptr;
  struct record_reader reader = {.at = bytes + 1, .end = bytes + body.len};
  *ret_item = (struct item){.n = 0};
  return body.len && bytes[0] == RECORD_FORMAT && item_decode(&reader, ret_item);
}

int store_dead_letters(struct store_txn *txn, struct tidings_span name, size_t most,
                       int (*each)(void *context, const struct db_dead *dead), void *context,
                       struct tidings_error *error) {
  return db_remote ? db_remote->dead_letters(txn->db, name, most, each, context, error) : 0;
}
